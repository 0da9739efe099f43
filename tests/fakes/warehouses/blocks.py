"""Blocks of items as the writer of a warehouse makes them."""

import json

from services.writers.warehouses.warehouse import JOB_COLUMNS, Block, Column, ColumnType, JobKey, JobRows, Value

TITLE = Column("title", ColumnType.TEXT)
SUBMITTED_US = 1_700_000_000_123_456


def job(name: str, generation: int = 1, items: int = 1, *titles: Value) -> JobRows:
    """Return a job of some items; titles make a column of their own."""
    rows = [
        (
            "org", name, item, generation, "example.com", "product", "json", SUBMITTED_US + item, None,
            json.dumps({"item": item, "of": generation}),
            *titles,
        )
        for item in range(items)
    ]  # fmt: skip
    return JobRows(JobKey("org", name), generation, rows)


def block(*jobs: JobRows, added: tuple[Column, ...] = ()) -> Block:
    """Return a block of jobs."""
    return Block((*JOB_COLUMNS, *added), sorted(jobs, key=lambda each: each.key))
