"""The writer of warehouses: destinations have lanes and circuits of their own, and faults are told as what they are."""

import asyncio
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from services.ledger.commands import SettleDeliveries
from services.ledger.reports import DeliveryResult
from services.ledger.tasks import Delivery, DeliveryBatch
from services.runtime.health import Progress
from services.runtime.networks import LOCAL
from services.writers.reading import ItemReading
from services.writers.sealed import Sealing
from services.writers.telling import Telling
from services.writers.warehouses.circuits import Circuits
from services.writers.warehouses.delivering import Delivering
from services.writers.warehouses.kinds import KINDS
from services.writers.warehouses.pacing import Pace
from services.writers.warehouses.shelf import Shelf
from services.writers.warehouses.shipping import Shipping
from services.writers.warehouses.stored import Name, StoredDestination
from services.writers.warehouses.table import Table
from services.writers.warehouses.warehouse import JOB_COLUMNS, Block, Column, ColumnType, JobKey, Refusal
from services.writers.writer import DestinationDown, written
from tests.eventually import eventually
from tests.held_keys import HeldKeys
from tests.unit.workers.fakes import MemoryBlobs, MemoryLedger
from tests.unit.writers.fakes import delivery

KIND = KINDS["customer_postgres"]


class MemoryWarehouse:
    """Keeps blocks; raises what it is told to."""

    def __init__(self) -> None:
        self.fault: Exception | None = None
        self.blocks_until_fault = -1  # it goes away behind so many; -1: it does not
        self.calls = 0
        self.blocks: list[Block] = []
        self.erased: list[JobKey] = []
        self.names = {column.name: column.type for column in JOB_COLUMNS}

    def _called(self) -> None:
        self.calls += 1
        if self.fault:
            raise self.fault

    async def columns(self) -> dict[str, ColumnType]:
        self._called()
        return dict(self.names)

    async def add_columns(self, columns: Sequence[Column]) -> None:
        self._called()
        self.names |= {column.name: column.type for column in columns}

    async def write(self, block: Block) -> dict[JobKey, str]:
        self._called()
        self.blocks.append(block)
        if len(self.blocks) == self.blocks_until_fault:
            self.fault = DestinationDown("went away")
        return {job.key: "too odd" for job in block.jobs if job.key.job_id == "job-13"}

    async def erase(self, jobs: Sequence[JobKey]) -> None:
        self._called()
        self.erased += jobs

    async def close(self) -> None:
        return


class OneShelf(Shelf):
    """Has one warehouse for every destination."""

    def __init__(self, warehouse: MemoryWarehouse) -> None:
        super().__init__(KIND, None, allowed=LOCAL)
        self.warehouse = warehouse

    def _open(self, name: Name, stored: StoredDestination) -> Table:
        return Table(KIND, self.warehouse, "shop.public.items")


class Known:
    """Knows one destination, or none."""

    def __init__(self) -> None:
        self.stored: StoredDestination | None = StoredDestination(KIND.name, True, {}, None, 1)

    async def find(self, name: Name) -> StoredDestination | None:
        return self.stored


class Bench:
    """A delivering writer with its parts."""

    def __init__(self) -> None:
        self.warehouse, self.known, self.blobs, self.now = MemoryWarehouse(), Known(), MemoryBlobs(), 0.0
        circuits = Circuits(lambda: self.now, failures=2, probe=10.0)
        self.pace = Pace(KIND.blocks_an_hour)
        self.writer = Delivering(
            KIND, self.known, ItemReading(self.blobs), OneShelf(self.warehouse), circuits, self.pace
        )

    async def deliver(self, *deliveries: Delivery, data: bytes = b'{"normalized": {"a": 1}}') -> list[DeliveryResult]:
        for each in deliveries:
            self.blobs.blobs[each.extraction_ref] = data
        return await self.writer.deliver(("org-1", "own"), deliveries)


def own(number: int = 1, **values: Any) -> Delivery:
    """Return a delivery to a warehouse."""
    return delivery(number, **{"destination_id": "own", "kind": KIND.name, **values})


async def test_the_newest_generation_is_written_and_older_ones_are_answered_as_written() -> None:
    bench = Bench()
    results = await bench.deliver(own(1, generation=2), own(1, generation=1), own(2))
    assert {each.place for each in results} == {"shop.public.items"}
    assert [(each.generation, each.error_type, each.rows) for each in results] == [(2, "", 1), (1, "", 1), (1, "", 1)]
    [block] = bench.warehouse.blocks
    assert [(job.key.job_id, job.generation) for job in block.jobs] == [("job-1", 2), ("job-2", 1)]
    assert block.columns[-1] == Column("a", ColumnType.INTEGER)


async def test_rows_that_are_refused_are_given_up_alone() -> None:
    results = await Bench().deliver(own(1), own(13), own(2))
    assert [(each.error_type, each.retryable) for each in results] == [("", True), ("row_refused", False), ("", True)]


async def test_what_was_written_before_its_destination_went_away_is_told_and_only_the_rest_is_tried_again() -> None:
    bench = Bench()
    bench.warehouse.blocks_until_fault = 1
    large = b'{"normalized": {"items": %s}}' % msgspec.json.encode([{}] * (KIND.max_rows - 1))
    erasure = own(9, destination_id="erasure:own", erase=True)
    results = await bench.deliver(own(2), erasure, own(1), own(1, generation=0), data=large)
    assert [(each.job_id, each.error_type, each.retryable) for each in results] == [
        ("job-2", "destination_unavailable", True),
        ("job-9", "destination_unavailable", True),
        ("job-1", "", True),
        ("job-1", "", True),
    ]
    bench.warehouse.fault = None
    assert [each.error_type for each in await bench.deliver(own(2), erasure, data=large)] == ["", ""]
    written_jobs = [job.key.job_id for block in bench.warehouse.blocks for job in block.jobs]
    assert written_jobs == ["job-1", "job-2"]
    assert bench.warehouse.erased == [JobKey("org-1", "job-9")]


@pytest.mark.parametrize(
    ("fault", "error_type", "said"),
    [
        (Refusal("grant it"), "destination_refused", b"grant it"),
        (DestinationDown("no answer"), "destination_unavailable", b"no answer"),
        (RuntimeError("marker-3"), "destination_unavailable", b"RuntimeError"),
    ],
)
async def test_faults_are_tried_again_and_say_what_they_are(fault: Exception, error_type: str, said: bytes) -> None:
    bench = Bench()
    bench.warehouse.fault = fault
    [result] = await bench.deliver(own())
    assert (result.error_type, result.retryable, result.closed) == (error_type, True, False)
    assert said in result.private
    assert b"marker-3" not in result.private


async def test_a_destination_that_fails_is_asked_once_an_interval_and_the_metrics_show_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown = list[float]()

    def level(name: str, value: float, **labels: str) -> None:
        assert (name, labels) == ("destinations_unavailable", {"destination_kind": KIND.name})
        shown.append(value)

    monkeypatch.setattr("services.writers.warehouses.delivering.level", level)
    bench = Bench()
    bench.warehouse.fault = DestinationDown("away")
    for _ in range(5):
        await bench.deliver(own())
    assert bench.warehouse.calls == 2
    bench.warehouse.fault, bench.now = None, 11.0
    assert [each.error_type for each in await bench.deliver(own())] == [""]
    assert [each.error_type for each in await bench.deliver(own())] == [""]
    assert shown == [0, 1, 1, 1, 1, 0, 0]


async def test_a_destination_that_is_gone_or_disabled_is_closed() -> None:
    bench = Bench()
    assert bench.known.stored is not None
    for stored in (
        None,
        StoredDestination(KIND.name, False, {}, None, 1),
        StoredDestination("bigquery", True, {}, None, 1),
    ):
        bench.known.stored = stored
        [result] = await bench.deliver(own())
        assert (result.error_type, result.closed) == ("destination_closed", True)
    assert bench.warehouse.calls == 0


async def test_a_deleted_job_is_erased_at_its_destination() -> None:
    bench = Bench()
    results = await bench.deliver(own(1, destination_id="erasure:own", erase=True), own(2))
    assert [each.error_type for each in results] == ["", ""]
    assert bench.warehouse.erased == [JobKey("org-1", "job-1")]


async def test_a_slow_destination_delays_no_other_and_records_end_when_answered() -> None:
    ledger, hang, done = MemoryLedger(), asyncio.Event(), list[str]()

    async def deliver(name: Name, deliveries: Sequence[Delivery]) -> list[DeliveryResult]:
        if name[1] == "slow":
            await hang.wait()
        return [written(each) for each in deliveries]

    async def tidy() -> None:
        return

    telling = Telling(ledger, "writer-1", Sealing(HeldKeys()))
    shipping = Shipping(KIND, deliver, tidy, telling, Progress("customer_postgres"), Pace(0))
    running = asyncio.create_task(shipping.run())
    try:
        slow = own(1, destination_id="slow")
        await shipping.add(DeliveryBatch(deliveries=(slow, own(2))), lambda: done.append("mixed"))
        await shipping.add(DeliveryBatch(deliveries=(own(3),)), lambda: done.append("fast"))
        await shipping.add(DeliveryBatch(deliveries=(replace(slow, try_number=2),)), lambda: done.append("again"))
        await eventually(lambda: done == ["fast"])
        hang.set()
        await eventually(lambda: sorted(done) == ["again", "fast", "mixed"])
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    results = [each for told in ledger.told if isinstance(told, SettleDeliveries) for each in told.results]
    assert sorted((each.job_id, each.try_number) for each in results) == [("job-1", 2), ("job-2", 1), ("job-3", 1)]
