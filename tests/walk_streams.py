"""What the walk of a workflow job adds to a legal stream of recorded events, and when events come."""

from typing import TYPE_CHECKING

from schemas.events import NodeFinished
from schemas.values import NodeOutcome

if TYPE_CHECKING:
    from tests.event_streams import Play, Stream

START = 1_750_000_000_000_001  # microseconds UTC; odd, so that lost microseconds show
STEP = 1_337  # microseconds between events


def visited(stream: "Stream", job: "Play", number: int) -> NodeFinished:
    """Return a node that a worker finishes, with what it costs."""
    good = number % 2 == 0
    at = START + len(stream.events) * STEP
    surcharge = number % 3 if good and job.cost else 0
    job.cost += surcharge
    return NodeFinished(
        step=job.step,
        node_id=f"node-{number}",
        node_kind="service",
        provider="direct",
        outcome=NodeOutcome.SUCCEEDED if good else NodeOutcome.FAILED,
        status_code=200 if good else 503,
        error_type="" if good else "http_503",
        edge="success" if good else "",
        next_node_id="next",
        latency_ms=number,
        started_at=at - 1_000 * number,
        ended_at=at,
        surcharge=surcharge,
        private=b"" if good else b'\0{"message":"try \\u0000 later","finalUrl":"https://shop.example/x"}',
    )
