"""What happens to a job whose worker is gone: back to its queue, or failed when that happened too often.

A spider that has begun is never run a second time by itself: what it has done to the sites that it visits is done.
"""

from collections.abc import Sequence

from schemas.events import AnyEvent, JobFailed, JobReleased
from schemas.private import private_bytes
from schemas.values import ReleaseReason, Vocabulary
from services.ledger.job import Job
from services.ledger.reports import ItemsReport
from services.ledger.state import Ledger

LOST = "worker_lost"
STOPPED = "runner_stopped"
LOST_SPIDER = "its runner is gone, and nobody knows how far the spider came: what was recorded stays; run it again"
STOPPED_SPIDER = "its runner was stopped while the spider ran: what was recorded stays; run it again"
NOT_WHOLE = "a report of its runner got lost, so that items are missing: what was recorded stays; run it again"


def release(ledger: Ledger, job: Job, reason: ReleaseReason) -> AnyEvent:
    """Return the event that takes a running job from its worker."""
    if reason is ReleaseReason.LEASE_EXPIRED:
        if job.vocabulary is Vocabulary.SPIDER:  # it may have begun, and not have said so yet
            return _failed(job, LOST, LOST_SPIDER)
        if job.run.losses + 1 >= ledger.policy.max_losses:
            return _failed(job, LOST, f"its worker was lost in {ledger.policy.max_losses} of its attempts")
    elif not may_run_again(job):
        return stopped(job)
    return JobReleased(
        org_id=job.org_id,
        job_id=job.job_id,
        attempt=job.attempt,
        reason=reason,
        worker_id=job.run.worker_id,
        boot_id=job.boot_id,
    )


def may_run_again(job: Job, told: Sequence[ItemsReport] = ()) -> bool:
    """Whether another attempt may follow by itself: not of a spider that has begun, by what its worker has told of it.

    `told` is what it tells just now.
    """
    return job.vocabulary is not Vocabulary.SPIDER or (job.items is None and not told)


def stopped(job: Job) -> JobFailed:
    """Return the end of a spider whose worker gives it back though it has begun."""
    return _failed(job, STOPPED, STOPPED_SPIDER)


def was(job: Job, error_type: str) -> bool:
    """Whether a job has failed for this."""
    return job.ending.failed is not None and job.ending.failed.error_type == error_type


def not_whole(job: Job) -> JobFailed:
    """Return the end of a spider of whose reports one is missing."""
    return _failed(job, "internal", NOT_WHOLE)


def _failed(job: Job, error_type: str, message: str) -> JobFailed:
    private = private_bytes({"message": message})
    return JobFailed(org_id=job.org_id, job_id=job.job_id, attempt=job.attempt, private=private, error_type=error_type)
