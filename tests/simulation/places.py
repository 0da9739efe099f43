"""Where results of jobs go: to our own stores, and to endpoints of webhooks."""

from random import Random

from msgspec.structs import replace

from schemas.values import After, Destination, OnExhausted
from tests.simulation.lake import LAKE

PLACES = (
    Destination(destination_id="table", kind="postgres"),
    Destination(destination_id="hook", kind="webhook"),
    Destination(destination_id="side", kind="webhook", gating=False),
    Destination(destination_id="hook:job.completed", kind="webhook", gating=False, after=After.COMPLETED),
    Destination(destination_id="hook:job.failed", kind="webhook", gating=False, after=After.FAILED),
)
HOOKS = frozenset({"hook", "side"})  # the endpoints; a notice goes to `<endpoint>:<type>`
IN_CLICKHOUSE = Destination(destination_id=LAKE, kind="clickhouse")


def chosen(random: Random) -> tuple[Destination, ...]:
    """Draw the destinations of a submission."""
    hook = replace(PLACES[1], on_exhausted=random.choice((*OnExhausted,)), gate_seconds=random.choice((8, 20)))
    places = (PLACES[0], hook, PLACES[2])[: random.choice((1, 2, 3, 3))] + random.choice((PLACES[3:], ()))
    return places + random.choice(((IN_CLICKHOUSE,), ()))
