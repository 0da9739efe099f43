"""Writes deliveries to one table: items become rows, fields columns, and the newest generation of each job wins."""

from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat

from schemas.storable import storable_text
from services.ledger.reports import DeliveryResult
from services.ledger.tasks import Delivery
from services.writers.rows import Row, Unreadable
from services.writers.warehouses.cells import cells, new_columns
from services.writers.warehouses.items import Items, items_of
from services.writers.warehouses.kinds import Kind
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
from services.writers.writer import refused, written

MOST_BLOCKS = 4  # that a job may be as large as: it is written as a whole, and held in memory
MAX_COLUMNS = 500  # of a table; fields beyond are in `_data` only
OURS = frozenset(column.name for column in JOB_COLUMNS)


@dataclass(frozen=True, slots=True)
class _Job:
    delivery: Delivery
    key: JobKey
    items: Items
    size: int  # of the items, as JSON


def key_of(delivery: Delivery) -> JobKey:
    """Return whose rows a delivery brings."""
    return JobKey(delivery.org_id, delivery.job_id)


class Table:
    """Writes to one warehouse, one call at a time; every call raises what the warehouse raises."""

    def __init__(self, kind: Kind, warehouse: Warehouse, place: str = "") -> None:
        self._kind = kind
        self._warehouse = warehouse
        self._place = place  # the name of the table
        self._columns: Mapping[str, ColumnType] = {}
        self.blocks = 0  # that were written, or tried

    async def close(self) -> None:
        """Let go of the warehouse."""
        await self._warehouse.close()

    async def erase(self, deliveries: Sequence[Delivery]) -> list[DeliveryResult]:
        """Take away what the table has of deleted jobs."""
        await self._warehouse.erase(sorted({key_of(each) for each in deliveries}))
        return [written(each, rows=0) for each in deliveries]

    async def write(self, rows: Sequence[Row | DeliveryResult]) -> AsyncIterator[Mapping[int, DeliveryResult]]:
        """Write what was read of deliveries, block by block; tell behind each what came of them, by place in `rows`.

        Where a block fails, what was told of those before it stays true: only the rest is to be tried again.
        """
        newest: dict[JobKey, _Job] = {}
        asked: defaultdict[JobKey, dict[int, _Job]] = defaultdict(dict)
        for at, row in enumerate(rows):
            each = self._read(row)
            if isinstance(each, DeliveryResult):
                yield {at: each}
                continue
            asked[each.key][at] = each
            held = newest.get(each.key)
            if held is None or held.delivery.generation <= each.delivery.generation:
                newest[each.key] = each
        jobs = sorted(newest.values(), key=lambda job: job.key)
        if jobs:
            await self._complete(jobs)
        for part in _parts(jobs, self._kind):
            self.blocks += 1
            faults = await self._warehouse.write(self._block(part))
            yield {
                at: self._result(each, faults.get(job.key) if each is job else None)
                for job in part
                for at, each in asked[job.key].items()
            }

    def _read(self, row: Row | DeliveryResult) -> _Job | DeliveryResult:
        if isinstance(row, DeliveryResult):
            return row
        try:
            items = items_of(row.normalized)
        except Unreadable as error:
            return refused(row.delivery, "extraction_unreadable", str(error))
        size = _bytes_of(row.normalized)
        if size > self._kind.max_row_bytes and (said := _too_large(items, self._kind)):
            return refused(row.delivery, "row_refused", said)
        if size > MOST_BLOCKS * self._kind.max_bytes:
            most = MOST_BLOCKS * self._kind.max_bytes
            return refused(row.delivery, "row_refused", f"its items are {size} bytes: {most} are written at once")
        return _Job(row.delivery, key_of(row.delivery), items, size)

    async def _complete(self, jobs: Sequence[_Job]) -> None:
        """See to a column for each field, as long as there is room."""
        if not self._columns:
            self._columns = await self._warehouse.columns()
        items = [job.items for job in jobs]
        if not new_columns(items, self._columns, MAX_COLUMNS - len(self._columns)):
            return
        self._columns = await self._warehouse.columns()  # another writer may have added some, of other types
        new = new_columns(items, self._columns, MAX_COLUMNS - len(self._columns))
        if new:
            await self._warehouse.add_columns(new)
            self._columns = await self._warehouse.columns()

    def _block(self, jobs: Sequence[_Job]) -> Block:
        named = dict.fromkeys(name for columns in dict.fromkeys(job.items.columns for job in jobs) for name in columns)
        columns = [Column(name, self._columns[name]) for name in named if name in self._columns and name not in OURS]
        return Block((*JOB_COLUMNS, *columns), [_rows(job, columns) for job in jobs])

    def _result(self, job: _Job, fault: str | None) -> DeliveryResult:
        """Say what came of a job; one that a newer generation has overtaken is written: nothing of it is missing."""
        if fault:
            return refused(job.delivery, "row_refused", fault)
        return written(job.delivery, rows=len(job.items), place=self._place)


def _bytes_of(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def _too_large(items: Items, kind: Kind) -> str:
    """Say which item is larger than a row may be; empty: none is."""
    for number, size in enumerate(map(_bytes_of, items.texts)):
        if size > kind.max_row_bytes:
            return f"item {number} is {size} bytes: a row in {kind.title} takes {kind.max_row_bytes} of an item"
    return ""


def _parts(jobs: Sequence[_Job], kind: Kind) -> Iterator[Sequence[_Job]]:
    """Cut jobs into blocks that a warehouse takes at once; a job is never cut."""
    part: list[_Job] = []
    rows = size = 0
    for job in jobs:
        over = rows + len(job.items) > kind.max_rows or size + job.size > kind.max_bytes or len(part) >= kind.max_jobs
        if part and over:
            yield part
            part, rows, size = [], 0, 0
        part.append(job)
        rows, size = rows + len(job.items), size + job.size
    if part:
        yield part


def _rows(job: _Job, columns: Sequence[Column]) -> JobRows:
    delivery = job.delivery
    told: tuple[Value, ...] = (
        delivery.generation,
        storable_text(delivery.domain),
        storable_text(delivery.schema_id),
        storable_text(delivery.data_type),
        delivery.submitted_at,
        delivery.extracted_at or None,
    )
    ours = (*map(repeat, (delivery.org_id, delivery.job_id)), range(len(job.items)), *map(repeat, told))
    rows = list(zip(*ours, job.items.texts, *(cells(job.items, column) for column in columns), strict=False))
    return JobRows(job.key, delivery.generation, rows)
