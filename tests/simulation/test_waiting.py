"""Whoever waits in the simulation is woken by what concerns it, at once, and by nothing else."""

import asyncio
from random import Random

from tests.simulation.broker import Entry, Partition, Transaction
from tests.simulation.fibers import Event, Signal, started
from tests.simulation.life import WORLD
from tests.simulation.loop import VirtualLoop


def _over(loop: VirtualLoop) -> float:
    now = loop.now
    loop.bury()
    WORLD.kept.clear()
    return now


def test_an_event_wakes_who_only_waits_to_be_told_to_stop() -> None:
    loop = VirtualLoop(Random(1), 1_000)

    async def live() -> None:
        waiting = started(loop, lambda: Signal().wait_idly(1_000.0))
        loop.call_later(2.0, Event().set)
        await waiting

    loop.run_until_complete(live())
    assert _over(loop) == 2.0


def test_a_wait_ends_with_its_time() -> None:
    loop, signal = VirtualLoop(Random(1), 1_000), Signal()

    async def live() -> None:
        await started(loop, lambda: signal.wait(3.0))
        await signal.heard(4.0)
        loop.call_later(1.0, signal.set)
        await asyncio.gather(signal.heard(100.0), started(loop, lambda: signal.wait(100.0)))

    loop.run_until_complete(live())
    assert _over(loop) == 8.0


def test_readers_of_what_is_committed_hear_of_a_transaction_when_it_is_decided() -> None:
    partition, transaction, told = Partition("events", 0), Transaction(), list[str]()
    written: list[int] = []

    def listen() -> None:
        partition.changed.then(lambda: told.append("changed"))
        partition.written.then(lambda: written.append(partition.end))

    for _ in range(2):
        listen()
        partition.append(Entry(b"k", b"v", [], 0, transaction))
    assert (told, written) == ([], [1, 2])
    transaction.state = "committed"
    partition.close(transaction)
    assert told == ["changed", "changed"]
    assert partition.stable_end == 3
