"""Whether the simulation hears of failures that nobody hears of, and of no others."""

import asyncio
import contextvars
import gc
from random import Random

from tests.simulation.life import CURRENT, WORLD, Life
from tests.simulation.loop import VirtualLoop


def _told(loop: VirtualLoop) -> list[str]:
    loop.bury()
    WORLD.kept.clear()
    gc.collect()
    return loop.unheard.told


def test_a_failure_that_nobody_asks_for_is_told_with_whose_it_is() -> None:
    loop, life = VirtualLoop(Random(1), 1_000), Life("worker-0", 1)

    async def forgetful() -> None:
        CURRENT.set(life)
        asyncio.get_running_loop().create_future().set_exception(ValueError("dropped"))

    loop.run_until_complete(forgetful())
    [told] = _told(loop)
    assert "worker-0#1" in told
    assert "ValueError('dropped')" in told


def test_a_failure_on_its_way_to_somebody_who_is_killed_is_not_told() -> None:
    loop, life = VirtualLoop(Random(1), 1_000), Life("worker-0", 1)

    async def killed_before_it_wakes() -> None:
        failing = loop.create_future()

        async def waiting() -> None:
            await failing

        context = contextvars.copy_context()
        context.run(CURRENT.set, life)
        task = loop.create_task(waiting(), context=context)
        await asyncio.sleep(0.1)
        failing.set_exception(ValueError("never heard"))
        loop.kill(life)
        assert not task.done()

    loop.run_until_complete(killed_before_it_wakes())
    life.kept.clear()
    assert _told(loop) == []


def test_a_failure_that_a_killed_process_waited_for_with_others_is_not_told() -> None:
    loop, life = VirtualLoop(Random(1), 1_000), Life("worker-0", 1)

    async def killed_before_all_have_answered() -> None:
        failing, other = loop.create_future(), loop.create_future()

        async def waiting_for(future: asyncio.Future[None]) -> None:
            await future

        async def waiting() -> None:
            await asyncio.gather(waiting_for(failing), waiting_for(other), return_exceptions=True)

        context = contextvars.copy_context()
        context.run(CURRENT.set, life)
        task = loop.create_task(waiting(), context=context)
        await asyncio.sleep(0.1)
        failing.set_exception(ValueError("never heard"))
        await asyncio.sleep(0.1)
        life.killed = True
        loop.kill(life)
        assert not task.done()

    loop.run_until_complete(killed_before_all_have_answered())
    life.kept.clear()
    assert _told(loop) == []
