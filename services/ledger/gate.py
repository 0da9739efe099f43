"""The gate: a job is completed when every gating destination has acknowledged or was waived, never before.

Which destinations gate is frozen at submit. A job does not wait for ever: a delivery that is given up leads to the
verdict of its destination's `on_exhausted`, and one that is still missing at its deadline to one all the same.
"""

from typing import assert_never

from schemas.events import AnyEvent, DeliveryWaived, JobFailed
from schemas.private import private_bytes
from schemas.values import OnExhausted
from services.ledger.delivery import DeliveryState, DeliveryStatus
from services.ledger.job import Job
from services.ledger.policy import SECOND, Policy
from services.ledger.retries import resend_after
from services.ledger.status import Status


def pending(job: Job) -> tuple[str, ...]:
    """Return the ids of the gating destinations that neither acknowledged nor were waived."""
    open_parts = {d.destination.destination_id for d in job.deliveries if d.opened_by}
    return tuple(d.destination_id for d in job.destinations if d.gating and d.destination_id not in open_parts)


def opened_by(job: Job) -> tuple[bytes, ...] | None:
    """Return the ids of the events that open the gate now, or None while it is closed or no longer matters."""
    if job.status is not Status.EXTRACTION_DONE or pending(job):
        return None
    return tuple(d.opened_by for d in job.deliveries if d.destination.gating)


def holds(job: Job, delivery: DeliveryStatus) -> bool:
    """Whether the job waits for this delivery."""
    return job.status is Status.EXTRACTION_DONE and delivery.destination.gating and not delivery.opened_by


def deadline(job: Job, delivery: DeliveryStatus, policy: Policy) -> int:
    """Return until when the job waits for a delivery, microseconds UTC; 0: it does not wait for it."""
    if not holds(job, delivery):
        return 0
    return delivery.requested_at + (delivery.destination.gate_seconds * SECOND or policy.gate_deadline)


def due_at(job: Job, delivery: DeliveryStatus, policy: Policy) -> int:
    """Return when a delivery is to be looked at again, microseconds UTC; 0: not by itself."""
    match delivery.state:
        case DeliveryState.REQUESTED:
            due = delivery.changed_at + resend_after(policy, job.job_id, delivery)
        case DeliveryState.WAITING:
            due = delivery.next_try_at
        case DeliveryState.ACKED | DeliveryState.DEAD | DeliveryState.WAIVED:
            due = 0
        case _:
            assert_never(delivery.state)
    until = deadline(job, delivery, policy)
    return min(due, until) if due and until else due or until


def given_up(job: Job, delivery: DeliveryStatus, *, closed: bool) -> list[AnyEvent]:
    """Return the verdict on a job whose delivery was given up; none: it is held for a person until its deadline."""
    if not holds(job, delivery):
        return []
    match delivery.destination.on_exhausted:
        case OnExhausted.FAIL:
            why = "was deleted or disabled" if closed else f"gave up after {delivery.failures} failed tries"
            return [_failed(job, delivery, "delivery_failed", why)]
        case OnExhausted.WAIVE:
            return [waived(job, delivery, "destination_closed" if closed else "exhausted")]
        case OnExhausted.HOLD | OnExhausted.UNKNOWN:  # nobody can redeliver to what is no longer there
            return [waived(job, delivery, "destination_closed")] if closed else []
        case _:
            assert_never(delivery.destination.on_exhausted)


def overdue(job: Job, delivery: DeliveryStatus) -> AnyEvent:
    """Return the verdict on a job that has waited for a delivery until its deadline."""
    if delivery.destination.on_exhausted is OnExhausted.WAIVE:
        return waived(job, delivery, "gate_deadline")
    return _failed(job, delivery, "gate_deadline", "did not acknowledge before the deadline of the gate")


def waived(job: Job, delivery: DeliveryStatus, reason: str) -> DeliveryWaived:
    """Return the event that opens a delivery's part of the gate without an ACK."""
    return DeliveryWaived(
        org_id=job.org_id,
        job_id=job.job_id,
        attempt=job.attempt,
        destination_id=delivery.destination.destination_id,
        generation=delivery.generation,
        reason=reason,
    )


def _failed(job: Job, delivery: DeliveryStatus, error_type: str, why: str) -> JobFailed:
    name = delivery.destination.destination_id
    return JobFailed(
        org_id=job.org_id,
        job_id=job.job_id,
        attempt=job.attempt,
        private=private_bytes({"message": f"destination {name} {why}"}),
        error_type=error_type,
        destination_id=name,
    )
