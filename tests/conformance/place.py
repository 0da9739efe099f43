"""What a binding of the conformance suite gives: one destination, opened as often as a test likes, and read back."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

from services.ledger.reports import DeliveryResult
from services.ledger.tasks import Delivery
from services.writers.chunked import Chunked
from services.writers.rows import Row
from services.writers.warehouses.table import Table
from services.writers.warehouses.warehouse import (
    JOB_COLUMNS,
    Block,
    Column,
    ColumnType,
    JobKey,
    JobRows,
    Value,
    Warehouse,
)

TITLE = Column("title", ColumnType.TEXT)
STOCK = Column("stock", ColumnType.INTEGER)
PRICE = Column("price", ColumnType.NUMBER)
SOLD = Column("sold", ColumnType.BOOLEAN)
SEEN_AT = Column("seen_at", ColumnType.TIMESTAMP)
TAGS = Column("tags", ColumnType.JSON)
ADDED = (TITLE, STOCK, PRICE, SOLD, SEEN_AT, TAGS)
SUBMITTED, EXTRACTED = 1_700_000_000_123_456, 1_700_000_001_000_000
Opens = Callable[[], Warehouse]
SECRET = "conformance-marker-5b1f"  # no error may quote it


class Place(ABC):
    """A destination of a test, which has no table yet."""

    @abstractmethod
    def open(self) -> Warehouse:
        """Return another instance for the same table, as another process would have."""

    @abstractmethod
    def open_badly(self) -> Warehouse:
        """Return one whose secret, SECRET, the server does not take."""

    @abstractmethod
    def open_away(self) -> Warehouse:
        """Return one whose server is not there."""

    @abstractmethod
    def lose_answer(self) -> None:
        """Have the server do what the next call of `write` asks, and its answer get lost."""

    @abstractmethod
    async def rows(self) -> list[dict[str, Any]]:
        """Return what people see in the table, in any order, by column.

        Integers, floats, booleans and texts as they are; timestamps as microseconds since 1970; JSON decoded.
        """

    async def held(self) -> list[tuple[str, int, int]]:
        """Return job, item and generation of each row, sorted."""
        return sorted((row["_job_id"], row["_item"], row["_generation"]) for row in await self.rows())


def key(name: str, org_id: str = "acme") -> JobKey:
    """Name a job."""
    return JobKey(org_id, name)


def job(name: str, generation: int = 1, items: int = 1, org_id: str = "acme", **values: Value) -> JobRows:
    """Return a job of so many items, with these values of ADDED; JSON as its text."""
    added = [values.get(column.name) for column in ADDED]
    rows = [
        (
            *(org_id, name, item, generation, "example.com", "product", "product", SUBMITTED, EXTRACTED),
            json.dumps({"item": item, "of": generation}),
            *added,
        )
        for item in range(items)
    ]
    return JobRows(key(name, org_id), generation, rows)


def block(*jobs: JobRows, columns: Sequence[Column] = ADDED) -> Block:
    """Return a block of jobs; without some of the columns of ADDED where others are named."""
    kept = [*range(len(JOB_COLUMNS)), *(len(JOB_COLUMNS) + ADDED.index(column) for column in columns)]
    ordered = sorted(jobs, key=lambda each: each.key)
    cut = [JobRows(each.key, each.generation, [[row[at] for at in kept] for row in each.rows]) for each in ordered]
    return Block((*JOB_COLUMNS, *columns), cut)


def odd_delivery(name: str) -> Delivery:
    """Return the delivery of a job."""
    return Delivery(
        org_id="acme", job_id=name, partition=0, destination_id="own", kind="own", generation=1, try_number=1,
        result_ref="", content_type="", extraction_ref="e", submitted_at=SUBMITTED,
    )  # fmt: skip


async def told_by(table: Table, rows: Sequence[Row | Chunked]) -> list[DeliveryResult]:
    """Write rows and return what the table told of each, in their order."""
    told: dict[int, DeliveryResult] = {}
    async for some in table.write(rows):
        told |= some
    return [told[at] for at in range(len(rows))]
