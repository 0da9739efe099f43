"""The rules of going on: a job with planned items that ended is gone on from by another, asked for or by itself.

The new job has the settings of the one before it, begins behind the last item that succeeded there, and has the chunks
up to there by reference. The one before it stays as it is.
"""

from msgspec.structs import replace

from schemas.events import AnyEvent, JobContinued, JobFailed, JobSubmitted
from schemas.private import SEALED
from schemas.values import Vocabulary
from services.ledger.chains import going_on_from, next_link
from services.ledger.commands import ResumeJob
from services.ledger.credits import cannot_pay_items
from services.ledger.ids import determined_id, shown_id
from services.ledger.items import Items, adopted_by_next
from services.ledger.job import Job
from services.ledger.queue_limits import known, max_pending, no_room, queue_seconds
from services.ledger.replies import Refused
from services.ledger.state import Ledger
from services.ledger.status import Status

MAX_LINKS = 200  # of a chain: each link names the chunks of all before it in one event
TIMED_OUT = "timed_out"


def not_resumable(ledger: Ledger, job: Job | None, command: ResumeJob) -> Refused | None:
    """Return why nobody can go on from a job, or None; one resume of it at a time."""
    if job is None or job.deleted or job.vocabulary is not Vocabulary.MODULE:
        return Refused(code="unknown_job")
    org = ledger.orgs[job.org_id]
    if _in_effect(ledger, job, command):
        return None
    if not job.terminal:
        return Refused(code="not_terminal", message=f"the job is {job.status}; resume it when it has ended")
    if job.expired:
        return Refused(code="results_expired", message="its results were purged; submit the job anew")
    for other in going_on_from(org.chains, job):
        if other in ledger.jobs and not ledger.jobs[other].terminal:
            message = f"job {other} goes on from it already; wait until that has ended"
            return Refused(code="resume_pending", message=message)
    if next_link(org.chains, job) > MAX_LINKS:
        return Refused(code="chain_too_long", message=f"its chain has {MAX_LINKS} jobs; submit the job anew")
    return no_room(ledger, org, 1) or cannot_pay_items(org, job.terms.item_credits)


def resume(ledger: Ledger, job: Job, command: ResumeJob) -> list[AnyEvent]:
    """Return the events of a job that goes on from another; none for a command that came before."""
    if _in_effect(ledger, job, command):
        return []
    submitted = _submitted(ledger, job, command.new.job_id, command.new.private or job.private)
    return [*_continued(ledger, job, submitted, command.idempotency_digest, command.request_digest)]


def why_alone(ledger: Ledger, job: Job, error_type: str) -> str:
    """Return why nothing goes on by itself from a job that fails for this; empty: a follow-up does.

    Asked before the failure is recorded, and after it: the answer is the same.
    """
    if error_type != TIMED_OUT or job.vocabulary is not Vocabulary.MODULE:
        return "only the run-time limit leads to a follow-up"
    org, items = ledger.orgs[job.org_id], job.items
    if items is None or not items.progressed:
        return "no item has succeeded since this link of the chain started"
    others, most = org.live - (not job.terminal), ledger.policy.follow_up_jobs
    if others >= most:
        return f"the account has {others} jobs pending or running, and from {most} on none follows by itself"
    pending, room = org.pending - (job.status is Status.PENDING), max_pending(ledger, org)
    if pending >= room:
        return f"the account has {pending} jobs pending, and {room} may be"
    if items.resume_item >= items.planned:
        return "every planned item has its outcome"
    if job.private[:1] == SEALED:
        return "the job is sealed under a key of its own"
    if next_link(org.chains, job) > MAX_LINKS:
        return f"its chain has {MAX_LINKS} jobs"
    return ""


def follow_up(ledger: Ledger, job: Job, failed: JobFailed) -> list[AnyEvent]:
    """Return the events of the job that goes on by itself from one that has failed, if one does."""
    if why_alone(ledger, job, failed.error_type):
        return []
    link = next_link(ledger.orgs[job.org_id].chains, job)
    job_id = shown_id(determined_id(ledger.occurred_at, f"{job.job_id}:{link}".encode()))
    return [*_continued(ledger, job, _submitted(ledger, job, job_id, job.private))]


def _in_effect(ledger: Ledger, job: Job, command: ResumeJob) -> bool:
    """Whether the new job was submitted before, perhaps so long ago that it has left memory."""
    org = ledger.orgs[job.org_id]
    return (
        command.new.job_id in going_on_from(org.chains, job)
        or command.new.job_id in ledger.jobs
        or known(ledger, org, command.idempotency_digest) is not None
    )


def _submitted(ledger: Ledger, job: Job, job_id: str, private: bytes) -> JobSubmitted:
    terms = job.terms
    return JobSubmitted(
        org_id=job.org_id,
        job_id=job_id,
        private=private,
        vocabulary=terms.vocabulary,
        workflow_id=terms.workflow_id,
        workflow_ref=terms.workflow_ref,
        domain=job.domain,
        priority=terms.priority,
        max_run_seconds=terms.max_run_seconds,
        destinations=terms.destinations,
        # as the org has it now: a job that left memory comes back without what was said of its own wait
        max_queue_seconds=queue_seconds(ledger, ledger.orgs[job.org_id], 0),
        item_credits=terms.item_credits,
    )


def _continued(
    ledger: Ledger, job: Job, submitted: JobSubmitted, idempotency_digest: bytes = b"", request_digest: bytes = b""
) -> tuple[AnyEvent, AnyEvent]:
    items = job.items or Items(chain_id=job.job_id)
    continued = JobContinued(
        org_id=job.org_id,
        job_id=submitted.job_id,
        source_job_id=job.job_id,
        chain_id=items.chain_id,
        link=next_link(ledger.orgs[job.org_id].chains, job),
        adopts=adopted_by_next(items, job.job_id),
        plan_ref=items.plan_ref,
        planned=items.planned,
        next_item=items.resume_item,
        rows=items.rows,
        errors=items.errors_before,
        result_bytes=items.result_bytes,
        digest=items.digest,
        newest_ref=items.newest_ref,
        newest_stats_bytes=items.newest_stats_bytes,
    )
    return (
        replace(submitted, idempotency_digest=idempotency_digest, request_digest=request_digest),
        continued,
    )
