"""Reads the rows of the internal Postgres destination, a table that its writer owns."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from psycopg.rows import class_row

from api.config.store import Pool
from services.runtime.sql import blocks

QUERIES = Path(__file__).with_name("results.sql")


@dataclass(frozen=True, slots=True)
class Result:
    """A row of extraction.extraction_results."""

    id: str
    org_id: str
    job_id: str
    domain: str
    schema_id: str
    data_type: str
    normalized: Any
    raw_blob_key: str
    quality_completeness: float
    quality_validation: float
    quality_composite: float
    latency_ms: int
    delivered_at: datetime
    created_at: datetime


async def find(pool: Pool, org_id: str, job_id: str) -> Result | None:
    """Return the row of a job's newest delivery, or None."""
    async with pool.connection() as connection, connection.cursor(row_factory=class_row(Result)) as cursor:
        await cursor.execute(blocks(QUERIES)["extraction_result"], {"org_id": org_id, "job_id": job_id})
        return await cursor.fetchone()
