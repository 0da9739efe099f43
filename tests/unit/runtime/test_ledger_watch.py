"""Partitions that answer, one that falls silent, and how soon that is seen."""

import asyncio
from collections import Counter

from services.runtime.asking import stop_watching
from services.runtime.health import Progress
from services.runtime.ledger_watch import keep_hearing
from tests.eventually import eventually

PARTITIONS = 4


async def test_ready_once_every_partition_has_answered_and_red_while_one_is_silent() -> None:
    progress, silent = Progress("ledger"), {2}

    async def ask(partition: int) -> bool:
        return partition not in silent

    hearing = asyncio.create_task(keep_hearing(ask, PARTITIONS, progress, every_seconds=0.02))
    await eventually(lambda: "1 of 4 partitions do not answer" in progress.state().get("reason", ""))
    silent.clear()
    await eventually(lambda: progress.state()["ready"])
    silent.update(range(PARTITIONS))
    await eventually(lambda: "4 of 4 partitions do not answer" in progress.state().get("reason", ""))
    await stop_watching([hearing])


async def test_nothing_is_ready_before_the_last_partition_was_heard() -> None:
    progress, asked, last = Progress("ledger"), Counter[int](), asyncio.Event()

    async def ask(partition: int) -> bool:
        asked[partition] += 1
        if partition == PARTITIONS - 1:
            await last.wait()
        return True

    hearing = asyncio.create_task(keep_hearing(ask, PARTITIONS, progress, every_seconds=0.02))
    await eventually(lambda: asked[0] > 2)
    assert progress.state() == {"ready": False, "reason": "not started yet"}
    last.set()
    await eventually(lambda: progress.state()["ready"])
    await stop_watching([hearing])


async def test_rounds_are_spread_also_after_all_were_silent_together() -> None:
    loop, times, silent = asyncio.get_running_loop(), dict[int, float](), set(range(PARTITIONS))

    async def ask(partition: int) -> bool:
        times[partition] = loop.time()
        return partition not in silent

    hearing = asyncio.create_task(keep_hearing(ask, PARTITIONS, Progress("ledger"), every_seconds=0.4))
    await eventually(lambda: len(times) == PARTITIONS)
    silent.clear()
    heard_again = loop.time() + 0.9
    await eventually(lambda: len(times) == PARTITIONS and min(times.values()) > heard_again)
    assert max(times.values()) - min(times.values()) > 0.2
    await stop_watching([hearing])
