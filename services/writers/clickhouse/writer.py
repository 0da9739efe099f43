"""Writes extractions to `extraction_results` in ClickHouse, a batch in one insert."""

import asyncio
import hashlib
from collections.abc import Sequence
from pathlib import Path

import msgspec
from clickhouse_connect.driver.client import Client
from clickhouse_connect.driver.exceptions import ClickHouseError

from services.ledger.reports import DeliveryResult
from services.ledger.tasks import Delivery
from services.runtime.clickhouse import connect, migrate
from services.writers.reading import Reading
from services.writers.rows import Row
from services.writers.writer import DestinationDown, ManyExtractions, written

TABLE = "extraction_results"
MIGRATIONS = Path(__file__).parent / "migrations"
APPLIED = "writer_migrations"  # the table that says which of them were
LEFT = """
SELECT DISTINCT org_id, job_id FROM extraction_results
WHERE (org_id, job_id) IN (SELECT org_id, job_id FROM erased_jobs WHERE job_id IN {job_ids:Array(String)})
"""
ERASE = "DELETE FROM extraction_results WHERE (org_id, job_id) IN {jobs:Array(Tuple(String, String))}"


class ClickHouseWriter:
    """Adds a row for each delivery; ClickHouse keeps the newest generation. Connects when it has to write."""

    def __init__(self, url: str, extractions: ManyExtractions, migration_seconds: int) -> None:
        self._url = url
        self._migration_seconds = migration_seconds
        self._reading = Reading(extractions)
        self._client: Client | None = None

    async def close(self) -> None:
        """Let go of the server."""
        if self._client:
            self._client.close()
            self._client = None

    async def write(self, deliveries: Sequence[Delivery]) -> list[DeliveryResult]:
        """Write a batch; written again after an answer that was lost, ClickHouse drops it by its token.

        Whatever this process wrote late, rows of deleted jobs are gone when it returns.
        """
        erasures = [each for each in deliveries if each.erase]
        written_to = [each for each in deliveries if not each.erase]
        read = await self._reading.rows_of(written_to)
        rows = [each for each in read if isinstance(each, Row)]
        if rows or erasures:
            try:
                await asyncio.to_thread(self._store, rows, erasures)
            except ClickHouseError as error:
                await self.close()
                raise DestinationDown(f"{type(error).__name__}: {error}") from error
        results = iter([written(each.delivery, place=TABLE) if isinstance(each, Row) else each for each in read])
        return [written(each, rows=0) if each.erase else next(results) for each in deliveries]

    def _store(self, rows: Sequence[Row], erasures: Sequence[Delivery]) -> None:
        if self._client is None:
            migrate(self._url, MIGRATIONS, APPLIED, self._migration_seconds)
            self._client = connect(self._url)
        if erasures:
            names = [(each.org_id, each.job_id) for each in erasures]
            self._client.insert("erased_jobs", names, column_names=["org_id", "job_id"])
        if rows:
            body = b"\n".join(msgspec.json.encode(row.columns()) for row in rows)
            settings = {"async_insert": 0, "insert_deduplication_token": _token(rows)}
            self._client.raw_insert(TABLE, insert_block=body, fmt="JSONEachRow", settings=settings)
        self._erase({each.job_id for each in erasures} | {row.delivery.job_id for row in rows})

    def _erase(self, job_ids: set[str]) -> None:
        """Take away what there is of those of these jobs that were deleted, before or after it was written.

        In one statement, and none where nothing is left: each is a mutation of every part of the table.
        """
        assert self._client is not None
        left = self._client.query(LEFT, parameters={"job_ids": sorted(job_ids)}).result_rows
        if left:
            self._client.command(ERASE, parameters={"jobs": [tuple(job) for job in left]})


def _token(rows: Sequence[Row]) -> str:
    """Name a batch by what it holds. A later try of a delivery is another batch: its row may have been lost."""
    keys = [
        (each.org_id, each.job_id, each.destination_id, each.generation, each.try_number)
        for each in (row.delivery for row in rows)
    ]
    return hashlib.blake2b(msgspec.msgpack.encode(keys), digest_size=16).hexdigest()
