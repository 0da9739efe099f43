"""What follows when a dated wait is over; a wait that no longer matters leads to nothing."""

from typing import assert_never

from schemas.events import AnyEvent, JobDispatched, JobFailed
from schemas.private import private_bytes
from schemas.values import Vocabulary
from services.ledger import gate
from services.ledger.continuing import TIMED_OUT, why_alone
from services.ledger.credits import expire
from services.ledger.decide_delivery import close
from services.ledger.delivery import SETTLED, DeliveryState
from services.ledger.follow import requested
from services.ledger.job import Job
from services.ledger.queue_limits import queue_expired
from services.ledger.retries import resend_after
from services.ledger.stale import unclaimed_yet
from services.ledger.state import Ledger
from services.ledger.status import Status
from services.ledger.timers import Timer


def decide_timer(ledger: Ledger, timer: Timer, now: int) -> list[AnyEvent]:
    """Return the events of a wait that is over."""
    if timer.kind == "hold":
        return expire(ledger, timer.job_id, bytes.fromhex(timer.detail))
    job = ledger.jobs.get(timer.job_id)
    if job is None:
        return []
    match timer.kind:
        case "retry":
            return []  # it takes the next free slot: `pop_due` has put it ahead in its queue
        case "dispatch":
            return _dispatch_again(job) if job.task_out and str(job.dispatch) == timer.detail else []
        case "delivery":
            return _deliver_again(ledger, job, timer.detail, now)
        case "deadline":
            return [] if job.terminal or job.status is Status.EXTRACTION_DONE else [_timed_out(ledger, job)]
        case "queue":
            return [queue_expired(job)] if unclaimed_yet(job) else []
        case _:
            assert_never(timer.kind)


def _dispatch_again(job: Job) -> list[AnyEvent]:
    return [
        JobDispatched(
            org_id=job.org_id,
            job_id=job.job_id,
            attempt=job.attempt,
            kind=job.vocabulary,
            dispatch=job.dispatch + 1,
        )
    ]


def _deliver_again(ledger: Ledger, job: Job, destination_id: str, now: int) -> list[AnyEvent]:
    delivery = job.delivery(destination_id)
    if delivery is None or not job.delivers(delivery):
        return []
    unanswered = (
        delivery.state is DeliveryState.REQUESTED
        and delivery.changed_at + resend_after(ledger.policy, job.job_id, delivery) <= now
    )
    waits = delivery.state is DeliveryState.WAITING
    overdue = 0 < gate.deadline(job, delivery, ledger.policy) <= now
    if ledger.orgs[job.org_id].endpoints.closed(delivery) and delivery.state not in SETTLED:
        return [close(job, delivery)] if waits or unanswered or overdue else []  # what a writer has, it may yet answer
    if overdue:
        return [gate.overdue(job, delivery)]
    if ledger.resends.waits(job, delivery):
        return []
    due = waits and 0 < delivery.next_try_at <= now
    if not (unanswered or due):
        return []
    return [requested(job, delivery.destination, delivery.generation, delivery.try_number + 1, erase=delivery.erase)]


def _timed_out(ledger: Ledger, job: Job) -> JobFailed:
    limit = job.terms.max_run_seconds
    if job.vocabulary is Vocabulary.MODULE:
        alone = why_alone(ledger, job, TIMED_OUT)
        then = f"no job follows by itself: {alone}; resume it to go on" if alone else "another job goes on from here"
        why = f"stopped at its run-time limit of {limit} s; {then}"
    else:
        why = f"stopped at its run-time limit: maxRunSeconds {limit}, counted from its first claim"
    private = private_bytes({"message": why})
    return JobFailed(org_id=job.org_id, job_id=job.job_id, attempt=job.attempt, private=private, error_type=TIMED_OUT)
