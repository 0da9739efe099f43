"""Whether a Faust app makes progress: it has its partitions, its agent lives, and what waits is taken."""

from dataclasses import dataclass, field
from typing import Any

from services.runtime.asking import keep_asking
from services.runtime.errors import RuntimeFault
from services.runtime.group_lag import GroupLag
from services.runtime.health import Progress
from services.runtime.metrics import level
from services.runtime.settings import Settings
from services.runtime.standstill import Standstill

EVERY_SECONDS = 3.0


class StreamStill(RuntimeFault):
    """Faust runs, and nothing can come of it."""


@dataclass(slots=True)
class Taking:
    """What an agent's loop says of itself."""

    agents: int = 0  # loops that run
    waits: bool = False  # the last record waits until there is room for it
    taken: dict[int, int] = field(default_factory=dict)  # offset behind the last record taken, by partition


async def watch_stream(settings: Settings, app: Any, topic: str, taking: Taking, progress: Progress) -> None:
    """Look at a Faust app until cancelled; without records behind on Tansu, whose end offsets are wrong."""
    group = GroupLag(settings, topic, app.conf.id)
    standstill = Standstill("records")

    async def look() -> dict[str, object]:
        assigned = _assigned(app, topic)
        if not taking.agents:
            raise StreamStill(f"no agent takes records of {topic}: its loop has ended")
        if settings.broker == "tansu" or not assigned:
            return {"assigned": len(assigned)}
        await group.renew(assigned)
        lags = group.lags()
        for partition, lag in lags.items():
            level("records_waiting", lag, topic=topic, partition=str(partition))
        if taking.waits:
            standstill.forget()
        else:
            standstill.look(group.heads, {at: max(done, taking.taken.get(at, 0)) for at, done in group.done.items()})
        return {"assigned": len(assigned), "lag": sum(lags.values())}

    await keep_asking(look, progress, who="Kafka", every_seconds=EVERY_SECONDS)


def _assigned(app: Any, topic: str) -> list[int]:
    """Return the partitions that this member of the group has; none is right where there are more members than those.

    Faust counts generations of the group from the first assignment on.
    """
    if app.rebalancing or app.consumer_generation_id <= 0:
        raise StreamStill("Kafka has not given this member of the group its partitions yet: it joins or rebalances")
    return sorted(place.partition for place in app.consumer.assignment() if place.topic == topic)
