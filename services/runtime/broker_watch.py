"""Whether the broker answers, also while nothing comes from it."""

from services.runtime import topics
from services.runtime.asking import keep_asking
from services.runtime.ends import Ends
from services.runtime.health import Progress
from services.runtime.settings import Settings


async def watch_broker(settings: Settings, progress: Progress) -> None:
    """Ask the broker for the end of a partition again and again, until cancelled."""
    ends = Ends(settings, topics.commands(settings))

    async def ask() -> None:
        await ends.of([0])

    await keep_asking(ask, progress, who="Kafka")
