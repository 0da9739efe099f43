"""Whether the broker answers: to a reader, a broker that is silent looks like a topic on which nothing comes."""

import asyncio
from collections.abc import Awaitable, Callable

from services.runtime import topics
from services.runtime.ends import Ends
from services.runtime.errors import BrokerFault
from services.runtime.health import Progress
from services.runtime.settings import Settings

EVERY_SECONDS = 3.0


async def watch_broker(settings: Settings, progress: Progress) -> None:
    """Ask the broker for the end of a partition again and again, until cancelled."""
    ends = Ends(settings, topics.commands(settings))
    await keep_asking(lambda: ends.of([0]), progress, EVERY_SECONDS)


async def keep_asking(ask: Callable[[], Awaitable[object]], progress: Progress, every_seconds: float) -> None:
    """Say after each question whether there was an answer."""
    while True:
        try:
            await ask()
        except BrokerFault as fault:
            progress.stalled(str(fault))
        else:
            progress.beat()
        await asyncio.sleep(every_seconds)
