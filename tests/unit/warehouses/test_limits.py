"""Blocks are within what warehouses take and operators allow; an item that is larger is refused alone, and named."""

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import replace

import pytest

from services.ledger.reports import DeliveryResult
from services.ledger.tasks import Delivery, DeliveryBatch
from services.runtime.errors import SettingsError
from services.runtime.health import Progress
from services.runtime.settings import Settings, settings_from
from services.writers.rows import Row
from services.writers.sealed import Sealing
from services.writers.telling import Telling
from services.writers.warehouses.kinds import KINDS, MIB
from services.writers.warehouses.pacing import Pace
from services.writers.warehouses.shipping import Shipping
from services.writers.warehouses.stored import Name
from services.writers.warehouses.table import Table
from services.writers.writer import written
from tests.conformance.place import told_by
from tests.eventually import eventually
from tests.held_keys import HeldKeys
from tests.unit.workers.fakes import MemoryLedger
from tests.unit.writers.fakes import delivery
from tests.unit.writers.test_shipping import MemoryWarehouse

KIND = replace(KINDS["bigquery"], max_bytes=1000, max_row_bytes=400)
NEEDED = {"JOBLEDGER_KAFKA": "k", "JOBLEDGER_POSTGRES": "postgresql://u@h/d", "JOBLEDGER_REGISTRY": "http://r",
          "JOBLEDGER_BLOBS": "file:///b"}  # fmt: skip


def row(number: int, *sizes: int) -> Row:
    """Return an extraction of items of so many bytes."""
    items = [{"a": "x" * (size - len('{"a": ""}'))} for size in sizes]
    return Row(delivery(number, kind=KIND.name), json.dumps({"items": items}), 0)


async def said(*rows: Row) -> tuple[list[tuple[str, bytes]], list[list[str]]]:
    """Return what came of rows, and which jobs stood in which block."""
    warehouse = MemoryWarehouse()
    table = Table(KIND, warehouse)
    results = await told_by(table, rows)
    assert table.blocks == len(warehouse.blocks)
    blocks = [[job.key.job_id for job in block.jobs] for block in warehouse.blocks]
    return [(each.error_type, each.private) for each in results], blocks


async def test_a_batch_that_is_larger_than_a_block_is_split() -> None:
    results, blocks = await said(row(1, 300), row(2, 300), row(3, 300), row(4, 100))
    assert [error for error, _ in results] == [""] * 4
    assert blocks == [["job-1", "job-2", "job-3"], ["job-4"]]


async def test_an_item_that_is_larger_than_a_row_is_refused_alone_and_named() -> None:
    results, blocks = await said(row(1, 300), row(2, 100, 401, 100), row(3, 400))
    assert [error for error, _ in results] == ["", "row_refused", ""]
    assert b"item 1 is 401 bytes: a row in BigQuery takes 400" in results[1][1]
    assert blocks == [["job-1", "job-3"]]


async def test_bytes_are_counted_and_not_characters() -> None:
    narrow = Row(delivery(1), json.dumps({"items": [{"a": "家" * 150}]}, ensure_ascii=False), 0)
    [(error, private)], _ = await said(narrow)
    assert error == "row_refused"
    assert b"item 0 is 459 bytes" in private


async def test_a_job_of_many_items_is_a_block_of_its_own_however_large_a_block_is_meant_to_be() -> None:
    results, blocks = await said(row(1, 100), row(2, *[400] * 8), row(3, 100), row(4, *[400] * 11))
    assert [error for error, _ in results] == ["", "", "", "row_refused"]
    assert b"4000 are written at once" in results[3][1]
    assert blocks == [["job-1"], ["job-2"], ["job-3"]]


def settings(**given: str) -> Settings:
    """Return settings with these beside what is needed."""
    return settings_from({**NEEDED, **{f"JOBLEDGER_WAREHOUSE_{name.upper()}": value for name, value in given.items()}})


def test_an_operator_may_bound_blocks_and_never_exceeds_what_a_warehouse_takes() -> None:
    given = settings(block_jobs="50", block_rows="99999999", block_bytes=str(9 * MIB), blocks_an_hour="60")
    kind = KINDS["databricks"].within(given)
    assert (kind.max_jobs, kind.max_rows, kind.max_bytes, kind.blocks_an_hour) == (50, 10_000, 8 * MIB, 60)
    assert kind.seconds == KINDS["databricks"].seconds
    assert KINDS["bigquery"].within(settings()) == KINDS["bigquery"]
    assert KINDS["bigquery"].within(settings(blocks_an_hour="5000", block_seconds="30")).blocks_an_hour == 1000
    assert KINDS["bigquery"].within(settings(block_seconds="30")).seconds == 30.0


@pytest.mark.parametrize("name", ["block_jobs", "block_rows", "block_bytes", "block_seconds", "blocks_an_hour"])
def test_a_bound_below_nothing_is_named(name: str) -> None:
    with pytest.raises(SettingsError, match=f"JOBLEDGER_WAREHOUSE_{name.upper()}"):
        settings(**{name: "-1"})


def test_a_destination_has_its_share_of_an_hour() -> None:
    now = 0.0
    pace = Pace(60, lambda: now)
    pace.spent("a", 1)
    pace.spent("a", 2)
    pace.spent("b", 0)
    assert [pace.wait_seconds(name) for name in ("a", "b", "c")] == [180.0, 0.0, 0.0]
    now = 179.0
    assert pace.wait_seconds("a") == 1.0
    now = 500.0
    pace.spent("a", 1)
    assert pace.wait_seconds("a") == 60.0
    free = Pace(0)
    free.spent("a", 1000)
    assert free.wait_seconds("a") == 0.0


async def test_what_comes_while_a_destination_has_to_wait_goes_out_with_the_next_block() -> None:
    """Five deliveries, two blocks: the one that was allowed, and one that waited and grew."""
    ledger, blocks, began, pace = MemoryLedger(), list[int](), list[float](), Pace(3600 * 20)

    async def deliver(name: Name, deliveries: Sequence[Delivery]) -> list[DeliveryResult]:
        began.append(time.monotonic())
        pace.spent(name, 6)  # 0.3 s
        blocks.append(len(deliveries))
        return [written(each) for each in deliveries]

    async def tidy() -> None:
        return

    kind = replace(KIND, seconds=0.01)
    telling = Telling(ledger, "writer-1", Sealing(HeldKeys()))
    shipping = Shipping(kind, deliver, tidy, telling, Progress("bigquery"), pace)
    running = asyncio.create_task(shipping.run())
    try:
        await shipping.add(DeliveryBatch(deliveries=(delivery(0),)), lambda: None)
        await eventually(lambda: blocks == [1])
        for number in range(1, 5):
            await shipping.add(DeliveryBatch(deliveries=(delivery(number),)), lambda: None)
        await eventually(lambda: len(blocks) > 1)
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    assert blocks == [1, 4]
    assert began[1] - began[0] >= 0.3
