"""The gate: a job is completed when every gating destination has acknowledged, never before."""

from services.ledger.delivery import DeliveryState
from services.ledger.job import Job
from services.ledger.status import Status


def pending(job: Job) -> tuple[str, ...]:
    """Return the ids of the gating destinations whose ACK is missing; which ones gate is frozen at submit."""
    acked = {d.destination.destination_id for d in job.deliveries if d.state is DeliveryState.ACKED}
    return tuple(d.destination_id for d in job.destinations if d.gating and d.destination_id not in acked)


def opened_by(job: Job) -> tuple[bytes, ...] | None:
    """Return the event ids of the ACKs that open the gate now, or None while it is closed or no longer matters."""
    if job.status is not Status.EXTRACTION_DONE or pending(job):
        return None
    return tuple(d.ack_event_id for d in job.deliveries if d.destination.gating)
