"""Where results of jobs go: to our own stores, and to endpoints of webhooks."""

from random import Random

from msgspec.structs import replace

from schemas.values import After, Destination, OnExhausted
from tests.simulation.lake import LAKE

PLACES = (
    Destination(destination_id="table", kind="postgres"),
    Destination(destination_id="hook", kind="webhook"),
    Destination(destination_id="side", kind="webhook", gating=False),
    Destination(destination_id="hook:done", kind="webhook", gating=False, after=After.COMPLETED),
    Destination(destination_id="hook:lost", kind="webhook", gating=False, after=After.FAILED),
)
IN_CLICKHOUSE = Destination(destination_id=LAKE, kind="clickhouse")


def chosen(random: Random) -> tuple[Destination, ...]:
    """Draw the destinations of a submission."""
    hook = replace(PLACES[1], on_exhausted=random.choice((*OnExhausted,)), gate_seconds=random.choice((8, 20)))
    places = (PLACES[0], hook, PLACES[2])[: random.randint(1, 3)] + random.choice((PLACES[3:], ()))
    return places + random.choice(((IN_CLICKHOUSE,), ()))
