"""What follows from an event by itself: deliveries after an extraction, completion after the last ACK."""

from schemas.events import AnyEvent, DeliveryAcked, DeliveryRequested, JobCompleted, JobExtracted
from services.ledger.gate import opened_by
from services.ledger.job import Job
from services.ledger.state import Ledger


def follow(ledger: Ledger, event: AnyEvent) -> list[AnyEvent]:
    """Return the events that an event, already folded into the state, leads to."""
    job = ledger.jobs.get(event.job_id)
    if job is None:
        return []
    match event:
        case JobExtracted():
            return [*_requests(job), *_complete(job)]
        case DeliveryAcked():
            return _complete(job)
        case _:
            return []


def _requests(job: Job) -> list[AnyEvent]:
    return [
        DeliveryRequested(
            org_id=job.org_id,
            job_id=job.job_id,
            attempt=job.attempt,
            destination_id=destination.destination_id,
            kind=destination.kind,
        )
        for destination in job.destinations
    ]


def _complete(job: Job) -> list[AnyEvent]:
    acks = opened_by(job)
    if acks is None:
        return []
    return [JobCompleted(org_id=job.org_id, job_id=job.job_id, attempt=job.attempt, opened_by=acks)]
