"""What follows from a bulk-writer's answers, and from people who have a job redelivered or a delivery waived."""

from schemas.events import AnyEvent, DeliveryAcked, DeliveryDeadLettered, DeliveryFailed
from services.ledger.commands import RedeliverJob, SettleDeliveries, WaiveDelivery
from services.ledger.delivery import SETTLED, DeliveryState, DeliveryStatus
from services.ledger.follow import requested
from services.ledger.gate import waived
from services.ledger.job import Job
from services.ledger.policy import MILLISECOND
from services.ledger.replies import Refused
from services.ledger.reports import DeliveryResult
from services.ledger.retention import past_retention
from services.ledger.retries import spread, waits_of
from services.ledger.state import Ledger

PLACE_CHARS = 200


def decide_deliveries(ledger: Ledger, command: SettleDeliveries, now: int) -> list[AnyEvent]:
    """Return the events of a batch of answers; repeated, stale and unknown ones change nothing.

    Of two answers for one delivery an ACK counts: the destination has it, whichever try another one failed for.
    """
    events: list[AnyEvent] = []
    answered: set[tuple[str, str]] = set()
    for result in sorted(command.results, key=lambda each: bool(each.error_type)):
        job = ledger.jobs.get(result.job_id)
        place = (result.job_id, result.destination_id)
        if job is None or job.org_id != result.org_id or place in answered:
            continue
        new = _settle(ledger, job, result, command.writer_id, now)
        if new:
            answered.add(place)
            events += new
    return events


def _settle(ledger: Ledger, job: Job, result: DeliveryResult, writer_id: str, now: int) -> list[AnyEvent]:
    delivery = job.delivery(result.destination_id)
    if delivery is None or delivery.generation != result.generation or delivery.state is DeliveryState.ACKED:
        return []
    if not result.error_type:
        return [
            DeliveryAcked(
                org_id=job.org_id,
                job_id=job.job_id,
                attempt=job.attempt,
                destination_id=result.destination_id,
                generation=result.generation,
                rows=result.rows,
                writer_id=writer_id,
                place=result.place[:PLACE_CHARS],
            )
        ]
    if delivery.state in SETTLED or delivery.state is DeliveryState.WAITING or result.try_number < delivery.try_number:
        return []
    return _failed(ledger, job, delivery, result, now)


def _failed(ledger: Ledger, job: Job, delivery: DeliveryStatus, result: DeliveryResult, now: int) -> list[AnyEvent]:
    waits = waits_of(ledger.policy, delivery.destination.kind)
    closed = result.closed or ledger.orgs[job.org_id].endpoints.closed(delivery)
    again = result.retryable and not closed and delivery.failures < len(waits)
    wait = max(waits[delivery.failures], result.retry_after_ms * MILLISECOND) if again else 0
    failed = DeliveryFailed(
        org_id=job.org_id,
        job_id=job.job_id,
        attempt=job.attempt,
        private=result.private,
        destination_id=result.destination_id,
        generation=result.generation,
        try_number=delivery.try_number,
        error_type=result.error_type,
        next_try_at=now + spread(ledger.policy, wait, job.job_id, delivery) if again else 0,
        endpoint_version=result.endpoint_version,
    )
    return [failed] if again else [failed, _given_up(job, delivery, result.error_type, closed=closed, failed=1)]


def close(job: Job, delivery: DeliveryStatus) -> DeliveryDeadLettered:
    """Return that a delivery is given up because its endpoint was disabled."""
    return _given_up(job, delivery, "endpoint_closed", closed=True)


def _given_up(
    job: Job, delivery: DeliveryStatus, error_type: str, *, closed: bool, failed: int = 0
) -> DeliveryDeadLettered:
    return DeliveryDeadLettered(
        org_id=job.org_id,
        job_id=job.job_id,
        attempt=job.attempt,
        destination_id=delivery.destination.destination_id,
        generation=delivery.generation,
        tries=delivery.failures + failed,
        error_type=error_type,
        closed=closed,
    )


def redeliver(job: Job, command: RedeliverJob) -> list[AnyEvent]:
    """Return the event of a new generation of a delivery, which `refused_about` has let through."""
    delivery = job.delivery(command.destination_id)
    if delivery is None or delivery.generation >= command.generation:
        return []
    return [requested(job, delivery.destination, command.generation)]


def waive(job: Job, command: WaiveDelivery) -> list[AnyEvent]:
    """Return the waiver of a delivery, which `refused_about` has let through."""
    delivery = job.delivery(command.destination_id)
    if delivery is None or _open(delivery):
        return []
    return [waived(job, delivery, "requested")]


def refused_about(job: Job | None, command: RedeliverJob | WaiveDelivery) -> Refused | None:
    """Return why a delivery is not redelivered or waived, or None: it is, or that is in effect already."""
    if job is None or job.deleted:
        return Refused(code="unknown_job")
    if job.expired:
        return past_retention()
    delivery = job.delivery(command.destination_id)
    if delivery is None:
        known = any(each.destination_id == command.destination_id for each in job.destinations)
        if known:
            return Refused(code="not_deliverable", message=f"the job is {job.status}: nothing was delivered there yet")
        return Refused(code="unknown_destination", message="the job has no destination of this id")
    if isinstance(command, WaiveDelivery):
        return _not_waivable(job, delivery, command)
    if delivery.generation >= command.generation:
        return None
    if delivery.generation + 1 < command.generation:
        return _newest(delivery)
    if not job.delivers(delivery):
        return _not_deliverable(job)
    if delivery.state is DeliveryState.REQUESTED:
        return Refused(code="delivery_under_way", message="a writer has it; it is sent again when no answer comes")
    return None


def _not_waivable(job: Job, delivery: DeliveryStatus, command: WaiveDelivery) -> Refused | None:
    if delivery.generation != command.generation:
        return _newest(delivery)
    return None if _open(delivery) or job.delivers(delivery) else _not_deliverable(job)


def _newest(delivery: DeliveryStatus) -> Refused:
    return Refused(code="bad_generation", message=f"generation {delivery.generation} is the newest")


def _open(delivery: DeliveryStatus) -> bool:
    return delivery.state in (DeliveryState.ACKED, DeliveryState.WAIVED)


def _not_deliverable(job: Job) -> Refused:
    return Refused(code="not_deliverable", message=f"the job is {job.status}: its data goes nowhere any more")
