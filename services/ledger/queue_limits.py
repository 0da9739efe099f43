"""How many jobs an org may have pending, and how long one may wait for its first claim."""

from schemas.events import JobFailed
from schemas.private import private_bytes
from services.ledger.commands import SubmitJobs
from services.ledger.job import Job
from services.ledger.keys import SubmissionKey
from services.ledger.policy import SECOND
from services.ledger.replies import Refused
from services.ledger.stale import unclaimed_yet
from services.ledger.state import Ledger, Org

QUEUE_EXPIRED = "queue_expired"


def max_pending(ledger: Ledger, org: Org) -> int:
    """How many jobs of an org may be pending."""
    return org.max_pending or ledger.policy.max_pending


def queue_full(ledger: Ledger, org: Org, command: SubmitJobs) -> Refused | None:
    """Return why a submission is refused: with all its jobs its org would have more pending than it may.

    A submission of many commands is measured by its first one, as a whole: once that is accepted the others are.
    """
    asked = len(command.jobs) + command.jobs_behind
    if not asked or known(ledger, org, command.idempotency_digest) or known(ledger, org, command.first_digest):
        return None
    return no_room(ledger, org, asked)


def no_room(ledger: Ledger, org: Org, asked: int) -> Refused | None:
    """Return why so many more jobs of an org do not fit, or None."""
    most = max_pending(ledger, org)
    if org.pending + asked <= most:
        return None
    return Refused(
        code="queue_full",
        message=f"{org.pending} jobs of the org are pending, {most} may be: {asked} more do not fit; ask again later",
    )


def known(ledger: Ledger, org: Org, digest: bytes) -> SubmissionKey | None:
    """Return what was submitted under an idempotency key, where that is still remembered."""
    return org.keys.get(digest, ledger.occurred_at - ledger.policy.idempotency_lifetime)


def queue_seconds(ledger: Ledger, org: Org, asked: int) -> int:
    """How long jobs may wait for their first claim, of which was asked so (0: nothing was); 0: for ever."""
    return asked or org.max_queue_seconds or ledger.policy.max_queue_seconds


def expires_at(job: Job) -> int:
    """When a job expires that nobody has claimed yet (microseconds UTC); 0: never."""
    seconds = job.terms.max_queue_seconds
    return job.submitted_at + seconds * SECOND if seconds and unclaimed_yet(job) else 0


def expired(job: Job, now: int) -> bool:
    """Whether the time of a job in the queue is over, though its timer may not have fired yet."""
    return 0 < expires_at(job) <= now


def queue_expired(job: Job) -> JobFailed:
    """Return the end of a job that nobody claimed in time."""
    private = private_bytes({"message": f"no worker claimed it within maxQueueSeconds {job.terms.max_queue_seconds}"})
    return JobFailed(
        org_id=job.org_id, job_id=job.job_id, attempt=job.attempt, private=private, error_type=QUEUE_EXPIRED
    )
