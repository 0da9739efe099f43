"""The gate: a job is completed when every gating destination has acknowledged, never before."""

from msgspec import Struct

from services.ledger.delivery import DeliveryState
from services.ledger.job import Job
from services.ledger.status import Status


class Gate(Struct, frozen=True):
    """What the gate of a job waits for, as destination ids."""

    expected: tuple[str, ...]
    acked: tuple[str, ...]

    @property
    def pending(self) -> tuple[str, ...]:
        """Destinations whose ACK is missing."""
        return tuple(name for name in self.expected if name not in self.acked)


def gate_of(job: Job) -> Gate:
    """Return what the gate waits for; the set of destinations is frozen at submit."""
    expected = tuple(d.destination_id for d in job.destinations if d.gating)
    acked = {d.destination.destination_id for d in job.deliveries if d.state is DeliveryState.ACKED}
    return Gate(expected, tuple(name for name in expected if name in acked))


def opened_by(job: Job) -> tuple[bytes, ...] | None:
    """Return the event ids of the ACKs that open the gate now, or None while it is closed or no longer matters."""
    if job.status is not Status.EXTRACTION_DONE or gate_of(job).pending:
        return None
    return tuple(d.ack_event_id for d in job.deliveries if d.destination.gating)
