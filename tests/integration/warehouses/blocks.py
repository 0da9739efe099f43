"""Blocks of rows for warehouses."""

from collections.abc import Sequence
from typing import Any

from services.writers.warehouses.warehouse import JOB_COLUMNS, Block, Column, ColumnType, JobKey, JobRows

COLUMNS = (
    *JOB_COLUMNS,
    Column("title", ColumnType.TEXT),
    Column("stock", ColumnType.INTEGER),
    Column("price", ColumnType.NUMBER),
    Column("sold", ColumnType.BOOLEAN),
    Column("seen_at", ColumnType.TIMESTAMP),
    Column("tags", ColumnType.JSON),
)
ITEM: dict[str, Any] = {
    "title": "Häuser\n\t\"'\\ 家 🏠",
    "stock": 3,
    "price": 1.25,
    "sold": True,
    "seen_at": 1_700_000_000_000_001,
    "tags": '["a"]',
}


def key(job_id: str, org_id: str = "acme") -> JobKey:
    """Name a job."""
    return JobKey(org_id, job_id)


def job(job_id: str, generation: int = 1, items: int = 1, org_id: str = "acme", **values: Any) -> JobRows:
    """Return a job with so many items, which have these values."""
    fields = ITEM | values
    own = [fields[column.name] for column in COLUMNS[len(JOB_COLUMNS) :]]
    before, after = (org_id, job_id), (generation, "example.com", "product", "product", 1_000_001, 2, '{"n": 1}')
    return JobRows(key(job_id, org_id), generation, [(*before, number, *after, *own) for number in range(items)])


def block(*jobs: JobRows, columns: Sequence[Column] = COLUMNS) -> Block:
    """Return a block of jobs."""
    return Block(columns, sorted(jobs, key=lambda each: each.key))
