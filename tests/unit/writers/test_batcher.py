"""Batches by size or by time; a record is done after its batch."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest

from services.ledger.policy import SECOND
from services.ledger.tasks import Delivery, DeliveryBatch
from services.runtime.health import Progress
from services.writers.batcher import HELD_BATCHES, Batcher
from tests.eventually import eventually
from tests.unit.writers.fakes import delivery

NEVER_SECONDS = 60.0
UNANSWERED_SECONDS, NOW = 30, 1_800_000_000


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
    batcher = Batcher(
        sink.deliver,
        Progress("postgres"),
        max_rows=max_rows,
        max_seconds=max_seconds,
        unanswered_seconds=UNANSWERED_SECONDS,
        now=lambda: NOW * SECOND,
    )
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


async def test_records_wait_outside_while_as_much_waits_as_is_held() -> None:
    sink = Sink()
    sink.open.clear()
    async with batching(sink, max_rows=1, max_seconds=NEVER_SECONDS) as batcher:
        await batcher.add(record(delivery(0)), lambda: None)
        await eventually(lambda: len(sink.batches) == 1)
        for number in range(HELD_BATCHES):
            await batcher.add(record(delivery(number)), lambda: None)
        last = asyncio.create_task(batcher.add(record(delivery(9)), lambda: None))
        await asyncio.wait({last}, timeout=0.02)
        assert not last.done()
        sink.open.set()
        await last
        await eventually(lambda: len(sink.batches) == HELD_BATCHES + 2)


async def test_a_batch_takes_of_all_orgs_in_turn_and_of_each_in_its_order() -> None:
    sink, done = Sink(), list[int]()
    sink.open.clear()
    async with batching(sink, max_rows=4, max_seconds=0) as batcher:
        await batcher.add(record(delivery(0)), lambda: None)
        await eventually(lambda: len(sink.batches) == 1)
        await batcher.add(record(*(delivery(number) for number in range(1, 7))), lambda: done.append(1))
        await batcher.add(record(delivery(11, org_id="org-2"), delivery(12, org_id="org-2")), lambda: done.append(2))
        sink.open.set()
        await eventually(lambda: len(sink.batches) == 3)
        await eventually(lambda: done == [2, 1])
    assert sink.batches[1:] == [["job-1", "job-11", "job-2", "job-12"], ["job-3", "job-4", "job-5", "job-6"]]


OLD = {"requested_at": (NOW - UNANSWERED_SECONDS - 1) * SECOND}
FRESH = {"requested_at": (NOW - 1) * SECOND}
BACKLOG = 10_000


async def test_behind_an_outage_what_is_fresh_is_delivered_soon_and_most_of_the_rest_is_left_to_the_ledger() -> None:
    sink, done, rows = Sink(), list[int](), 50
    sink.open.clear()
    async with batching(sink, max_rows=rows, max_seconds=0) as batcher:
        await batcher.add(record(delivery(0)), lambda: None)
        await eventually(lambda: len(sink.batches) == 1)  # the store is down: this one waits for it
        async with asyncio.timeout(20):  # none of it has to wait for the store
            for first in range(0, BACKLOG, 100):
                old = (delivery(number, **OLD) for number in range(first, first + 100))
                await batcher.add(record(*old), lambda: done.append(0))
        await batcher.add(record(delivery(90_001, **FRESH)), lambda: done.append(1))
        await batcher.add(record(delivery(90_002, org_id="org-2", **FRESH)), lambda: done.append(2))
        assert done == [0] * (BACKLOG // 100 - 1), "all but what the first batch is from"
        sink.open.set()
        await eventually(lambda: {1, 2} <= set(done))
    delivered = [job_id for batch in sink.batches for job_id in batch]
    assert delivered.index("job-90002") <= 2, "another org is next"
    assert delivered.index("job-90001") <= 1 + rows + 1, "the same org has one batch before it"
    assert len(delivered) <= 1 + rows + 2


@pytest.mark.parametrize(
    "kept",
    [FRESH, {**OLD, "try_number": 2}, {}],
    ids=["young", "sent again", "of a ledger that does not say when"],
)
async def test_what_the_ledger_does_not_send_again_soon_is_never_left_to_it(kept: dict[str, int]) -> None:
    sink = Sink()
    async with batching(sink, max_rows=5, max_seconds=0) as batcher:
        async with asyncio.timeout(20):
            await batcher.add(record(*(delivery(number, **kept) for number in range(40))), lambda: None)
        await eventually(lambda: len(sink.batches) == 8)
    assert [job for batch in sink.batches for job in batch] == [f"job-{number}" for number in range(40)]
