"""What a job is made of beside itself: what all jobs of a submission share, and what most jobs do not have yet.

A partition holds a million live jobs, most of them waiting for their first claim. Those share one empty `Run` and one
empty `Ending`, and one `Terms` with whatever was submitted like them.
"""

from functools import lru_cache
from sys import intern

from msgspec import Struct
from msgspec.structs import replace

from schemas.events import JobExtracted, JobFailed, JobSubmitted, NodeFinished
from schemas.values import Destination, NodeOutcome, Vocabulary
from services.ledger.delivery import DeliveryStatus
from services.ledger.tasks import Resume

TERMS_SHARED = 65_536  # how many different terms are remembered, to be shared by jobs to come


class Terms(Struct, frozen=True, gc=False):
    """What was agreed for a job when it was submitted, apart from what it is to fetch."""

    org_id: str
    vocabulary: Vocabulary
    workflow_ref: str
    priority: int
    max_run_seconds: int
    destinations: tuple[Destination, ...]
    workflow_id: str = ""
    max_queue_seconds: int = 0  # that it may wait for its first claim; 0: for ever
    credits: int = 0  # what it cost when it was submitted
    item_credits: int = 0  # what each planned item costs that succeeds


class Run(Struct, frozen=True, kw_only=True, gc=False):
    """The newest claim, and what came of this and earlier ones. Times are microseconds UTC, 0: not yet."""

    worker_id: str = ""  # of the newest claim
    boot_id: str = ""  # of the newest claim
    spent: int = 0  # the newest dispatch when it was claimed: no task up to this one is claimed any more
    losses: int = 0  # claims that ended because the worker was lost
    surcharged: int = 0  # credits that its calls have cost so far
    resume: Resume = Resume()
    first_claimed_at: int = 0
    claimed_at: int = 0
    retry_due_at: int = 0
    extracted_at: int = 0
    extracted: JobExtracted | None = None
    deliveries: tuple[DeliveryStatus, ...] = ()


class Ending(Struct, frozen=True, kw_only=True, gc=False):
    """How a job ended."""

    correlation_id: str = ""  # of the request that ended it
    at: int = 0  # microseconds UTC
    position: int = 0  # of the event that ended it: who has read so far knows the end
    failed: JobFailed | None = None  # without its private bytes
    deleted: bool = False  # nobody may see it any more
    expired_at: int = 0  # microseconds UTC; since when its results are past retention and go; 0: they are kept
    parting: bool = False  # the worker that ran it may be at it still: it has not said that it stopped


NOT_RUN = Run()
NOT_ENDED = Ending()


@lru_cache(TERMS_SHARED)
def _shared(
    org_id: str,
    vocabulary: Vocabulary,
    workflow_ref: str,
    priority: int,
    max_run_seconds: int,
    destinations: tuple[Destination, ...],
    workflow_id: str,
    max_queue_seconds: int,
    cost: int,
    item_cost: int,
) -> Terms:
    return Terms(
        org_id,
        vocabulary,
        workflow_ref,
        priority,
        max_run_seconds,
        destinations,
        workflow_id,
        max_queue_seconds,
        cost,
        item_cost,
    )


def share(terms: Terms) -> Terms:
    """Return terms equal to these, the same object for all jobs where possible."""
    return _shared(
        terms.org_id,
        terms.vocabulary,
        terms.workflow_ref,
        terms.priority,
        terms.max_run_seconds,
        terms.destinations,
        terms.workflow_id,
        terms.max_queue_seconds,
        terms.credits,
        terms.item_credits,
    )


def terms_of(event: JobSubmitted) -> Terms:
    """Return the terms of a submission."""
    return _shared(
        event.org_id,
        event.vocabulary,
        event.workflow_ref,
        event.priority,
        event.max_run_seconds,
        event.destinations,
        event.workflow_id,
        event.max_queue_seconds,
        event.credits,
        event.item_credits,
    )


def shared_run(run: Run, terms: Terms, job_id: str) -> Run:
    """Return a run that was read back, with what it has in common with its job and others as the same objects."""
    resume, extracted = run.resume, run.extracted
    places = {place.destination_id: place for place in terms.destinations}
    return replace(
        run,
        worker_id=intern(run.worker_id),
        boot_id=intern(run.boot_id),
        resume=replace(resume, node_id=intern(resume.node_id), content_type=intern(resume.content_type)),
        extracted=extracted and kept(extracted, terms.org_id, job_id, resume),
        deliveries=tuple(
            replace(each, destination=places.get(each.destination.destination_id, each.destination))
            for each in run.deliveries
        ),
    )


def kept(event: JobExtracted, org_id: str, job_id: str, resume: Resume) -> JobExtracted:
    """Return the event as a job keeps it: texts that it has in common with the job or others are not kept twice."""
    return replace(
        event,
        org_id=org_id,
        job_id=job_id,
        result_ref=resume.body_ref if resume.body_ref == event.result_ref else event.result_ref,
        content_type=intern(event.content_type),
        schema_id=intern(event.schema_id),
        data_type=intern(event.data_type),
    )


def resume_after(resume: Resume, node: NodeFinished) -> Resume:
    """Return where the walk goes on after a node: at the same node while it has no edge, else at the next one."""
    step = node.step + 1
    if not node.edge:
        return replace(resume, step=step, node_id=intern(node.node_id), try_number=node.try_number + 1)
    exhausted = node.edge == "fail"
    return replace(
        resume,
        step=step,
        node_id=intern(node.next_node_id),
        try_number=1,
        body_ref=node.body_ref or resume.body_ref,
        content_type=intern(node.content_type) or resume.content_type,
        saw_verdict=resume.saw_verdict or (exhausted and node.outcome is NodeOutcome.REFUSED),
        saw_error=resume.saw_error or (exhausted and node.outcome is NodeOutcome.FAILED),
    )
