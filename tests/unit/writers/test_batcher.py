"""Batches by size or by time; a record is done after its batch."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from services.ledger.tasks import Delivery, DeliveryBatch
from services.runtime.health import Progress
from services.writers.batcher import Batcher
from tests.eventually import eventually
from tests.unit.writers.fakes import delivery

NEVER_SECONDS = 60.0


class Sink:
    """Takes batches; holds them as long as it is closed."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.open = asyncio.Event()
        self.open.set()

    async def deliver(self, batch: list[Delivery]) -> None:
        """Take one."""
        self.batches.append([each.job_id for each in batch])
        await self.open.wait()


def record(*deliveries: Delivery) -> DeliveryBatch:
    """Return a record of these."""
    return DeliveryBatch(deliveries=deliveries)


@contextlib.asynccontextmanager
async def batching(sink: Sink, max_rows: int, max_seconds: float) -> AsyncIterator[Batcher]:
    """Run a batcher."""
    batcher = Batcher(sink.deliver, Progress("postgres"), max_rows=max_rows, max_seconds=max_seconds)
    running = asyncio.create_task(batcher.run())
    yield batcher
    running.cancel()


async def test_a_full_batch_is_delivered_without_waiting_for_the_time() -> None:
    sink, done = Sink(), list[int]()
    async with batching(sink, max_rows=3, max_seconds=NEVER_SECONDS) as batcher:
        await batcher.add(record(delivery(1), delivery(2)), lambda: done.append(1))
        await batcher.add(record(delivery(3)), lambda: done.append(2))
        await eventually(lambda: done == [1, 2])
    assert sink.batches == [["job-1", "job-2", "job-3"]]


async def test_a_small_batch_is_delivered_when_its_time_is_up() -> None:
    sink, done = Sink(), list[int]()
    async with batching(sink, max_rows=500, max_seconds=0.02) as batcher:
        await batcher.add(record(delivery(1)), lambda: done.append(1))
        await eventually(lambda: done == [1])
    assert sink.batches == [["job-1"]]


async def test_nothing_is_done_before_its_batch_is_delivered() -> None:
    sink, done = Sink(), list[int]()
    sink.open.clear()
    async with batching(sink, max_rows=1, max_seconds=NEVER_SECONDS) as batcher:
        await batcher.add(record(delivery(1)), lambda: done.append(1))
        await eventually(lambda: sink.batches)
        assert done == []
        sink.open.set()
        await eventually(lambda: done == [1])


async def test_records_wait_outside_while_a_whole_batch_waits() -> None:
    sink = Sink()
    sink.open.clear()
    async with batching(sink, max_rows=1, max_seconds=NEVER_SECONDS) as batcher:
        await batcher.add(record(delivery(1)), lambda: None)
        await eventually(lambda: len(sink.batches) == 1)
        await batcher.add(record(delivery(2)), lambda: None)
        third = asyncio.create_task(batcher.add(record(delivery(3)), lambda: None))
        await asyncio.wait({third}, timeout=0.02)
        assert not third.done()
        sink.open.set()
        await third
        await eventually(lambda: len(sink.batches) == 3)
