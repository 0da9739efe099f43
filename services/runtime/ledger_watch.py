"""Whether every partition of the ledger answers: asked evenly spread over time, and soon again where one is silent."""

import asyncio
from collections.abc import Awaitable, Callable

from services.ledger.commands import Probe
from services.runtime.commander import Asker
from services.runtime.errors import LedgerUnavailable
from services.runtime.health import Progress
from services.runtime.ids import uuid7

ANSWER_SECONDS = 4.0  # that a partition may take to answer; then it counts as silent
SOON_SECONDS = 1.0  # until a silent partition is asked again
PULSE_SECONDS = 2.0
ROUND_SECONDS = 10.0  # within which every partition is probed


async def watch_decider(ledger: Asker, partitions: int, progress: Progress) -> None:
    """Probe the decider of every partition, until cancelled; a probe changes nothing."""

    async def ask(partition: int) -> bool:
        probe = Probe(command_id=uuid7(), requester=ledger.boot_id)
        try:
            await ledger.ask(partition, probe, ANSWER_SECONDS)
        except LedgerUnavailable:
            return False
        return True

    await keep_hearing(ask, partitions, progress, every_seconds=ROUND_SECONDS)


async def keep_hearing(
    ask: Callable[[int], Awaitable[bool]],
    partitions: int,
    progress: Progress,
    *,
    every_seconds: float,
    figures: Callable[[], dict[str, object]] = dict,
) -> None:
    """Ask every partition at once and then once a round, until cancelled.

    The rounds of the partitions are spread evenly: when all fall silent at once, one of them is asked soon.
    """
    unheard = set(range(partitions))
    silent: set[int] = set()

    def show() -> None:
        if silent:
            progress.stalled(f"{len(silent)} of {partitions} partitions do not answer: is the decider up?")
        elif not unheard:
            progress.beat(**figures())

    async def follow(partition: int) -> None:
        clock = asyncio.get_running_loop().time
        turn = clock() + every_seconds * partition / partitions  # and every round later; silence does not shift it
        while True:
            if await ask(partition):
                silent.discard(partition)
                unheard.discard(partition)
                show()
                await asyncio.sleep(every_seconds - (clock() - turn) % every_seconds)
            else:
                silent.add(partition)
                show()
                await asyncio.sleep(min(SOON_SECONDS, every_seconds))

    async def pulse() -> None:
        while True:
            show()
            await asyncio.sleep(PULSE_SECONDS)

    async with asyncio.TaskGroup() as group:
        group.create_task(pulse())
        for partition in range(partitions):
            group.create_task(follow(partition))
