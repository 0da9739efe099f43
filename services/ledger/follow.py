"""What follows from an event by itself: deliveries, completion after the last ACK, verdicts, notices, erasures."""

from collections.abc import Iterable

from schemas.events import (
    AnyEvent,
    DeliveryAcked,
    DeliveryDeadLettered,
    DeliveryFailed,
    DeliveryRequested,
    DeliveryWaived,
    JobCompleted,
    JobDeleted,
    JobExpired,
    JobExtracted,
    JobFailed,
    ReportRefused,
)
from schemas.values import After, Destination
from services.ledger.continuing import follow_up
from services.ledger.endpoints import verdict
from services.ledger.erasure import erasures, erasures_at_customers
from services.ledger.gate import given_up, opened_by
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
        case DeliveryAcked() | DeliveryWaived():
            return _complete(job)
        case DeliveryFailed():
            endpoints, longest = ledger.orgs[job.org_id].endpoints, ledger.policy.endpoint_span
            return [*verdict(endpoints, job, event, now=ledger.occurred_at, longest=longest)]
        case DeliveryDeadLettered():
            delivery = job.delivery(event.destination_id)
            return given_up(job, delivery, closed=event.closed) if delivery else []
        case JobCompleted():
            return _requests(job, job.notices)
        case JobFailed():
            return [*_requests(job, job.notices), *follow_up(ledger, job, event)]
        case JobDeleted():
            return [*erasures(job), *erasures_at_customers(job)]
        case JobExpired():
            return [*erasures(job)]
        case ReportRefused() if job.deleted or job.expired:  # its worker may have left bodies behind since
            return [*erasures(job)]
        case _:
            return []


def _of_the_data(job: Job) -> Iterable[Destination]:
    return (destination for destination in job.destinations if destination.after is After.EXTRACTION)


def _requests(job: Job, destinations: Iterable[Destination]) -> list[AnyEvent]:
    return [requested(job, destination) for destination in destinations]


def requested(
    job: Job, destination: Destination, generation: int = 1, try_number: int = 1, *, erase: bool = False
) -> DeliveryRequested:
    """Return the event that has a job delivered to a destination."""
    return DeliveryRequested(
        org_id=job.org_id,
        job_id=job.job_id,
        attempt=job.attempt,
        destination_id=destination.destination_id,
        kind=destination.kind,
        generation=generation,
        try_number=try_number,
        gating=destination.gating,
        erase=erase,
    )


def _complete(job: Job) -> list[AnyEvent]:
    acks = opened_by(job)
    if acks is None:
        return []
    return [JobCompleted(org_id=job.org_id, job_id=job.job_id, attempt=job.attempt, opened_by=acks)]
