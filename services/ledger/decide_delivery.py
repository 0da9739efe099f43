"""What follows from a bulk-writer's answers: ACKs, dated new tries, and deliveries given up."""

from schemas.events import AnyEvent, DeliveryAcked, DeliveryDeadLettered, DeliveryFailed
from services.ledger.delivery import SETTLED, DeliveryState, DeliveryStatus
from services.ledger.job import Job
from services.ledger.messages import DeliveryResult, SettleDeliveries
from services.ledger.policy import MILLISECOND
from services.ledger.state import Ledger


def decide_deliveries(ledger: Ledger, command: SettleDeliveries, now: int) -> list[AnyEvent]:
    """Return the events of a batch of answers; repeated, stale and unknown ones change nothing."""
    events: list[AnyEvent] = []
    answered: set[tuple[str, str]] = set()
    for result in command.results:
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
            )
        ]
    if delivery.state in SETTLED or delivery.state is DeliveryState.WAITING or result.try_number < delivery.try_number:
        return []
    return _failed(ledger, job, delivery, result, now)


def _failed(ledger: Ledger, job: Job, delivery: DeliveryStatus, result: DeliveryResult, now: int) -> list[AnyEvent]:
    schedule = ledger.policy.delivery_schedule
    again = result.retryable and delivery.failures < len(schedule)
    wait = max(schedule[delivery.failures], result.retry_after_ms * MILLISECOND) if again else 0
    failed = DeliveryFailed(
        org_id=job.org_id,
        job_id=job.job_id,
        attempt=job.attempt,
        private=result.private,
        destination_id=result.destination_id,
        generation=result.generation,
        try_number=delivery.try_number,
        error_type=result.error_type,
        next_try_at=now + wait if again else 0,
    )
    if again:
        return [failed]
    given_up = DeliveryDeadLettered(
        org_id=job.org_id,
        job_id=job.job_id,
        attempt=job.attempt,
        destination_id=result.destination_id,
        generation=result.generation,
        tries=delivery.failures + 1,
        error_type=result.error_type,
    )
    return [failed, given_up]
