"""Why a job stands where it stands, from the state of its partition: it may be asked of any past state too."""

from itertools import islice

from msgspec.structs import replace

from services.ledger.delivery import DeliveryState
from services.ledger.fairness import window
from services.ledger.gate import deadline, holds
from services.ledger.job import Job
from services.ledger.policy import Policy
from services.ledger.queue_limits import expires_at
from services.ledger.replies import Awaited, Explained, Reason
from services.ledger.state import Ledger, Org
from services.ledger.status import Status

MOST_NAMED = 100  # jobs that hold the slots of an org
MOST_COUNTED = 10_000  # jobs ahead in the queue


def explain(ledger: Ledger, job: Job) -> Explained:
    """Say what a job waits for, or how it ended."""
    generations = tuple((each.destination.destination_id, each.generation) for each in job.deliveries)
    return replace(_why(ledger, job), generations=generations)


def _why(ledger: Ledger, job: Job) -> Explained:
    if job.terminal:
        return Explained(status=job.status, reason=Reason.ENDED, since=job.ending.at, attempt=job.attempt)
    match job.status:
        case Status.RUNNING:
            return _running(job)
        case Status.EXTRACTION_DONE:
            return _waiting_for_acks(job, ledger.policy)
        case Status.WAITING_RETRY if not job.task_out and ledger.occurred_at < job.run.retry_due_at:
            return Explained(
                status=job.status,
                reason=Reason.BACKOFF,
                since=job.claimed_at,
                until=job.run.retry_due_at,
                attempt=job.attempt,
                node_id=job.resume.node_id,
            )
        case _:
            return _waiting_for_a_worker(ledger, job)


def _running(job: Job) -> Explained:
    return Explained(
        status=job.status,
        reason=Reason.WORKER,
        since=job.claimed_at,
        attempt=job.attempt,
        worker_id=job.run.worker_id,
        node_id=job.resume.node_id,
    )


def _waiting_for_acks(job: Job, policy: Policy) -> Explained:
    awaited = tuple(
        Awaited(
            destination_id=delivery.destination.destination_id,
            kind=delivery.destination.kind,
            state=delivery.state.name.lower(),
            try_number=delivery.try_number,
            failures=delivery.failures,
            next_try_at=delivery.next_try_at if delivery.state is DeliveryState.WAITING else 0,
            deadline_at=deadline(job, delivery, policy),
        )
        for delivery in job.deliveries
        if holds(job, delivery)
    )
    return Explained(
        status=job.status, reason=Reason.ACKS, since=job.run.extracted_at, attempt=job.attempt, awaited=awaited
    )


def _waiting_for_a_worker(ledger: Ledger, job: Job) -> Explained:
    org, kind = ledger.orgs[job.org_id], job.vocabulary
    workers = [worker for worker in ledger.workers.values() if worker.kind == kind]
    unclaimed, most = ledger.unclaimed.get(kind, 0), window(ledger, kind)
    if job.task_out:
        reason = Reason.CLAIM if workers else Reason.NO_WORKERS
    elif org.paused:
        reason = Reason.ORG_PAUSED
    elif job.terms.workflow_id in org.paused_workflows:
        reason = Reason.WORKFLOW_PAUSED
    elif org.in_flight >= org.max_in_flight:
        reason = Reason.CAP
    elif not workers:
        reason = Reason.NO_WORKERS
    else:
        reason = Reason.FLEET_FULL if unclaimed >= most else Reason.TURN
    return Explained(
        status=job.status,
        reason=reason,
        since=job.submitted_at,
        attempt=job.attempt,
        expires_at=expires_at(job),
        ahead=_ahead(ledger, org, job),
        in_flight=org.in_flight,
        max_in_flight=org.max_in_flight,
        holders=tuple(islice(org.holders, MOST_NAMED)),
        orgs_waiting=len(ledger.turns.get(kind, ())),
        unclaimed=unclaimed,
        window=most,
        workers=len(workers),
        slots=sum(worker.slots for worker in workers),
    )


def _ahead(ledger: Ledger, org: Org, job: Job) -> int:
    """Count the jobs of its org that take a slot before this one, up to MOST_COUNTED."""
    if job.task_out or job.vocabulary not in org.queues or job.terms.workflow_id in org.paused_workflows:
        return 0
    ahead = 0
    for job_id in islice(org.queues[job.vocabulary].in_order(ledger.jobs), MOST_COUNTED):
        if job_id == job.job_id:
            break
        ahead += 1
    return ahead
