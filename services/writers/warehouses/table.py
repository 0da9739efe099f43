"""Writes deliveries to one table: items become rows, fields columns, and the newest generation of each job wins.

A job whose items lie in chunks goes out in blocks of its own, one behind the other: none of them waits in memory.
"""

from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import repeat

from schemas.storable import storable_text
from services.ledger.reports import DeliveryResult
from services.ledger.tasks import Delivery
from services.runtime.errors import BlobFault, BlobMissing
from services.runtime.item_reading import BadItems
from services.writers.chunked import Chunked
from services.writers.rows import Row, Unreadable
from services.writers.warehouses.cells import cells, new_columns
from services.writers.warehouses.items import Items, items_of, items_of_texts
from services.writers.warehouses.kinds import MIB, Kind
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
from services.writers.writer import failed, refused, written

MOST_BLOCKS = 4  # that a job may be as large as: it is written as a whole, and held in memory
PIECE_BYTES = 4 * MIB  # of the items of a block, as JSON, where a job is written in several
MAX_COLUMNS = 500  # of a table; fields beyond are in `_data` only
OURS = frozenset(column.name for column in JOB_COLUMNS)


@dataclass(frozen=True, slots=True)
class _Job:
    delivery: Delivery
    key: JobKey
    items: Items
    size: int  # of the items, as JSON
    first_item: int = 0  # which of the job's the first of them is


Told = Callable[[Delivery], DeliveryResult]


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

    async def write(
        self, rows: Sequence[Row | Chunked | DeliveryResult]
    ) -> AsyncIterator[Mapping[int, DeliveryResult]]:
        """Write what was read of deliveries, block by block; tell behind each what came of them, by place in `rows`.

        Where a block fails, what was told of those before it stays true: only the rest is to be tried again. Of a job
        in several blocks nothing is told before the last.
        """
        newest: dict[JobKey, _Job | Chunked] = {}
        asked: defaultdict[JobKey, dict[int, _Job | Chunked]] = defaultdict(dict)
        for at, row in enumerate(rows):
            each = self._read(row)
            if isinstance(each, DeliveryResult):
                yield {at: each}
                continue
            key = key_of(each.delivery)
            asked[key][at] = each
            held = newest.get(key)
            if held is None or held.delivery.generation <= each.delivery.generation:
                newest[key] = each
        jobs = sorted((each for each in newest.values() if isinstance(each, _Job)), key=lambda job: job.key)
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
        for key, large in newest.items():
            if isinstance(large, Chunked):
                async for told in self._poured(large):
                    yield {at: told(each.delivery) for at, each in asked[key].items()} if told else {}

    async def _poured(self, large: Chunked) -> AsyncIterator[Told | None]:
        """Write the items of one job, block by block: None behind each, and at last what is to be said of the job.

        Written again, in whatever blocks, each item is there once.
        """
        key, next_item = key_of(large.delivery), 0
        try:
            async for texts in large.pieces(self._kind.max_rows, min(self._kind.max_bytes, PIECE_BYTES)):
                items = items_of_texts(texts)
                fault = _too_large(items, self._kind, next_item)
                fault = fault or await self._put(_Job(large.delivery, key, items, 0, next_item))
                if fault:
                    said = f"{fault}; of its {large.manifest.rows} items {next_item} are written"
                    yield partial(refused, error_type="row_refused", message=said)
                    return
                next_item += len(items)
                yield None
            # Without items its older rows go all the same.
            if not next_item and (fault := await self._put(_Job(large.delivery, key, items_of_texts(()), 0))):
                yield partial(refused, error_type="row_refused", message=fault)
                return
        except BlobMissing as error:
            yield partial(refused, error_type="extraction_missing", message=str(error))
        except BlobFault as error:
            yield partial(failed, error_type="store_unavailable", message=str(error))
        except (BadItems, Unreadable) as error:
            yield partial(refused, error_type="extraction_unreadable", message=str(error))
        else:
            yield partial(written, rows=next_item, place=self._place)

    async def _put(self, job: _Job) -> str:
        """Write a block of one job; return why it was refused, or nothing."""
        await self._complete([job])
        self.blocks += 1
        return (await self._warehouse.write(self._block([job]))).get(job.key, "")

    def _read(self, row: Row | Chunked | DeliveryResult) -> _Job | Chunked | DeliveryResult:
        if isinstance(row, DeliveryResult | Chunked):
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

    def _result(self, job: _Job | Chunked, fault: str | None) -> DeliveryResult:
        """Say what came of a job; one that a newer generation has overtaken is written: nothing of it is missing."""
        if fault:
            return refused(job.delivery, "row_refused", fault)
        rows = job.manifest.rows if isinstance(job, Chunked) else len(job.items)
        return written(job.delivery, rows=rows, place=self._place)


def _bytes_of(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode())


def _too_large(items: Items, kind: Kind, first_item: int = 0) -> str:
    """Say which item is larger than a row may be; empty: none is."""
    for number, size in enumerate(map(_bytes_of, items.texts), first_item):
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
    ours = (*map(repeat, (delivery.org_id, delivery.job_id)), _ordinals(job), *map(repeat, told))
    rows = list(zip(*ours, job.items.texts, *(cells(job.items, column) for column in columns), strict=False))
    return JobRows(job.key, delivery.generation, rows)


def _ordinals(job: _Job) -> range:
    return range(job.first_item, job.first_item + len(job.items))
