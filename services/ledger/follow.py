"""What follows from an event by itself: deliveries, completion after the last ACK, notices of the end of a job."""

from collections.abc import Iterable

from schemas.events import AnyEvent, DeliveryAcked, DeliveryRequested, JobCompleted, JobExtracted, JobFailed
from schemas.values import After, Destination
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
            return [*_requests(job, _of_the_data(job)), *_complete(job)]
        case DeliveryAcked():
            return _complete(job)
        case JobCompleted() | JobFailed():
            return _requests(job, job.notices)
        case _:
            return []


def _of_the_data(job: Job) -> Iterable[Destination]:
    return (destination for destination in job.destinations if destination.after is After.EXTRACTION)


def _requests(job: Job, destinations: Iterable[Destination]) -> list[AnyEvent]:
    return [
        DeliveryRequested(
            org_id=job.org_id,
            job_id=job.job_id,
            attempt=job.attempt,
            destination_id=destination.destination_id,
            kind=destination.kind,
        )
        for destination in destinations
    ]


def _complete(job: Job) -> list[AnyEvent]:
    acks = opened_by(job)
    if acks is None:
        return []
    return [JobCompleted(org_id=job.org_id, job_id=job.job_id, attempt=job.attempt, opened_by=acks)]
