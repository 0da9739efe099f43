"""Partitions of a process take turns at deciding and committing, as they ask for it, and nobody waits long."""

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

from schemas.codec import Decoder
from services.decider import permits
from services.decider.partition import PartitionDecider, Tools
from services.decider.permits import Permits
from services.ledger.commands import AnnounceWorker
from tests.eventually import eventually
from tests.unit.decider.test_due_beside_commands import SETTINGS, Flood
from tests.unit.ledger.world import PlainEncoder, World

LONG = 60.0
ALIVE = AnnounceWorker(command_id="a", worker_id="w", boot_id="b", kind="workflow", slots=1, free_slots=1)


async def test_who_finds_none_free_gets_one_in_the_order_of_asking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(permits, "PATIENCE_SECONDS", LONG)
    lent, order = Permits(), list[int]()

    def work(number: int) -> None:
        with lent.taken():
            order.append(number)

    with lent.taken():
        with lent.taken():
            waiting: list[asyncio.Task[None]] = []
            for number in range(3):
                waiting.append(asyncio.create_task(asyncio.to_thread(work, number)))
                await eventually(lambda: lent.asked_for == len(waiting))
            assert order == []
        await asyncio.gather(*waiting)
    assert order == [0, 1, 2]


@pytest.mark.parametrize(("partitions", "at_once"), [(1, 2), (11, 2), (12, 3), (64, 16)])
async def test_a_quarter_of_the_partitions_are_at_it_at_once_and_two_at_least(
    partitions: int, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(permits, "PATIENCE_SECONDS", LONG)
    lent, going_on = Permits(partitions), threading.Event()

    def work() -> None:
        with lent.taken():
            going_on.wait(LONG)

    with ThreadPoolExecutor(at_once + 1) as threads:
        for _ in range(at_once + 1):
            threads.submit(work)
        try:
            await eventually(lambda: lent.asked_for == 1)
        finally:
            going_on.set()


async def test_nobody_waits_for_ever_and_who_went_without_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(permits, "PATIENCE_SECONDS", 0)
    lent = Permits()

    def work() -> None:
        with lent.taken():
            pass

    with lent.taken():
        with lent.taken():
            with lent.taken():  # out of patience
                monkeypatch.setattr(permits, "PATIENCE_SECONDS", LONG)
                waiting = asyncio.create_task(asyncio.to_thread(work))
                await eventually(lambda: lent.asked_for == 1)
            assert lent.asked_for == 1, "there are still as many at it as there are permits"
        await waiting


def test_a_batch_is_read_decided_and_committed_under_a_permit_and_waited_for_without(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[str] = []

    class Noting(Flood):
        def wait(self, most: int, timeout_seconds: float) -> None:
            seen.append("wait")

        def poll(self, most: int) -> Iterator[Any]:
            seen.append("poll")
            yield 0, ALIVE

        def write(self, records: Any) -> None:
            seen.append("write")

    @contextmanager
    def taken() -> Iterator[None]:
        seen.append("take")
        yield
        seen.append("give")

    lent = Permits()
    monkeypatch.setattr(lent, "taken", taken)
    world, flood = World().org(), Noting()
    stand_in: Any = flood
    no_decoder = Decoder(lambda _number: {})

    def clock() -> int:
        return flood.now

    tools = Tools(SETTINGS, world.policy, PlainEncoder(), no_decoder, stand_in, print, stand_in, "boot", clock, lent)
    PartitionDecider(tools, stand_in, world.decider, stand_in).step()
    assert seen == ["wait", "take", "poll", "write", "give"]
