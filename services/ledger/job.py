"""One job: the state that its events add up to."""

from typing import assert_never

from msgspec import Struct
from msgspec.structs import replace

from schemas.events import (
    DeliveryAcked,
    DeliveryDeadLettered,
    DeliveryEvent,
    DeliveryFailed,
    DeliveryRequested,
    DeliveryWaived,
    JobCancelled,
    JobClaimed,
    JobCompleted,
    JobDispatched,
    JobEvent,
    JobExtracted,
    JobFailed,
    JobReleased,
    JobSubmitted,
    NodeFinished,
    Recorded,
    ReportRefused,
    RetryScheduled,
)
from schemas.values import After, Destination, NodeOutcome, ReleaseReason, Vocabulary
from services.ledger import delivery as deliveries
from services.ledger.delivery import SETTLED, DeliveryStatus
from services.ledger.messages import Resume
from services.ledger.status import TERMINAL, Status

NOTICE_OF = {Status.COMPLETED: After.COMPLETED, Status.FAILED: After.FAILED}


class Job(Struct, frozen=True, gc=False, kw_only=True):
    """State of one job. Times are microseconds UTC, 0: not yet."""

    org_id: str
    job_id: str
    vocabulary: Vocabulary
    workflow_ref: str
    domain: str
    private: bytes
    priority: int
    max_run_seconds: int
    destinations: tuple[Destination, ...]
    submitted_at: int
    status: Status = Status.PENDING
    seq: int = 1
    attempt: int = 0  # fencing number of the newest claim
    dispatch: int = 0  # how often it was dispatched
    task_out: bool = False  # its task is on the topic and nobody has claimed it
    worker_id: str = ""  # of the newest claim
    boot_id: str = ""  # of the newest claim
    losses: int = 0  # claims that ended because the worker was lost
    resume: Resume = Resume()
    first_claimed_at: int = 0
    claimed_at: int = 0
    retry_due_at: int = 0
    extracted_at: int = 0
    extracted: JobExtracted | None = None
    deliveries: tuple[DeliveryStatus, ...] = ()
    ended_for: str = ""  # correlation id of the request that ended it
    ended_at: int = 0
    ended_position: int = 0  # of the event that ended it: who has read so far knows the end
    failed: JobFailed | None = None  # without its private bytes

    @property
    def terminal(self) -> bool:
        """Whether the job has ended."""
        return self.status in TERMINAL

    @property
    def holds_slot(self) -> bool:
        """Whether the job counts against its org's cap: dispatched, or running."""
        return self.status is Status.RUNNING or (self.task_out and not self.terminal)

    @property
    def queued(self) -> bool:
        """Whether the job waits in its org's queue for a first or another dispatch."""
        return self.status is Status.PENDING and not self.task_out

    @property
    def notices(self) -> tuple[Destination, ...]:
        """The destinations that are told of this end of the job; none while it lives, none when it is cancelled."""
        after = NOTICE_OF.get(self.status)
        return tuple(destination for destination in self.destinations if destination.after is after)

    def delivers(self, delivery: DeliveryStatus) -> bool:
        """Whether a delivery is still to be looked after: of a failed job only the notices of its failure are."""
        if self.status is Status.FAILED:
            return delivery.destination.after is After.FAILED
        return self.status in (Status.EXTRACTION_DONE, Status.COMPLETED)

    @property
    def settled(self) -> bool:
        """Whether an ended job has nothing left to deliver."""
        told = {delivery.destination.destination_id for delivery in self.deliveries}
        return all(notice.destination_id in told for notice in self.notices) and not any(
            delivery.state not in SETTLED for delivery in self.deliveries if self.delivers(delivery)
        )

    def delivery(self, destination_id: str) -> DeliveryStatus | None:
        """Return the newest delivery to a destination."""
        return next((d for d in self.deliveries if d.destination.destination_id == destination_id), None)


def initial(recorded: Recorded, event: JobSubmitted) -> Job:
    """Begin a job."""
    return Job(
        org_id=event.org_id,
        job_id=event.job_id,
        vocabulary=event.vocabulary,
        workflow_ref=event.workflow_ref,
        domain=event.domain,
        private=event.private,
        priority=event.priority,
        max_run_seconds=event.max_run_seconds,
        destinations=event.destinations,
        submitted_at=recorded.header.occurred_at,
        seq=recorded.header.seq,
    )


def evolve(job: Job, recorded: Recorded, event: JobEvent) -> Job:
    """Fold one event into a job. Never refuses: events are facts."""
    seq, at = recorded.header.seq, recorded.header.occurred_at
    match event:
        case JobDispatched():
            return replace(job, seq=seq, dispatch=event.dispatch, task_out=True)
        case JobClaimed():
            return replace(
                job,
                seq=seq,
                status=Status.RUNNING,
                task_out=False,
                attempt=event.attempt,
                worker_id=event.worker_id,
                boot_id=event.boot_id,
                claimed_at=at,
                first_claimed_at=job.first_claimed_at or at,
            )
        case NodeFinished():
            return replace(job, seq=seq, resume=_resume_after(job.resume, event))
        case RetryScheduled():
            return replace(job, seq=seq, status=Status.WAITING_RETRY, retry_due_at=event.due_at)
        case JobReleased():
            lost = event.reason is ReleaseReason.LEASE_EXPIRED
            return replace(job, seq=seq, status=Status.PENDING, losses=job.losses + lost)
        case JobExtracted():
            return replace(job, seq=seq, status=Status.EXTRACTION_DONE, extracted=event, extracted_at=at)
        case JobCompleted():
            return _ended(job, recorded, Status.COMPLETED)
        case JobFailed():
            return replace(_ended(job, recorded, Status.FAILED), failed=replace(event, private=b""))
        case JobCancelled():
            return _ended(job, recorded, Status.CANCELLED)
        case DeliveryRequested() | DeliveryAcked() | DeliveryFailed() | DeliveryDeadLettered() | DeliveryWaived():
            return replace(job, seq=seq, deliveries=_delivered(job, recorded, event))
        case ReportRefused() | JobSubmitted():
            return replace(job, seq=seq)
        case _:
            assert_never(event)


def _ended(job: Job, recorded: Recorded, status: Status) -> Job:
    header = recorded.header
    return replace(
        job,
        seq=header.seq,
        status=status,
        task_out=False,
        ended_for=header.correlation_id,
        ended_at=header.occurred_at,
        ended_position=header.position,
    )


def _resume_after(resume: Resume, node: NodeFinished) -> Resume:
    """Where the walk goes on after a node: at the same node while it has no edge, else at the next one."""
    step = node.step + 1
    if not node.edge:
        return replace(resume, step=step, node_id=node.node_id, try_number=node.try_number + 1)
    exhausted = node.edge == "fail"
    return replace(
        resume,
        step=step,
        node_id=node.next_node_id,
        try_number=1,
        body_ref=node.body_ref or resume.body_ref,
        content_type=node.content_type or resume.content_type,
        saw_verdict=resume.saw_verdict or (exhausted and node.outcome is NodeOutcome.REFUSED),
        saw_error=resume.saw_error or (exhausted and node.outcome is NodeOutcome.FAILED),
    )


def _delivered(job: Job, recorded: Recorded, event: DeliveryEvent) -> tuple[DeliveryStatus, ...]:
    current = job.delivery(event.destination_id)
    if isinstance(event, DeliveryRequested) and (current is None or event.generation > current.generation):
        destination = next(
            (d for d in job.destinations if d.destination_id == event.destination_id),
            Destination(destination_id=event.destination_id, kind=event.kind, gating=False),
        )
        others = (d for d in job.deliveries if d is not current)
        opened_by = current.opened_by if current else b""
        return (*others, deliveries.initial(destination, recorded, event, opened_by))
    if current is None or event.generation != current.generation:
        return job.deliveries
    new = deliveries.evolve(current, recorded, event)
    return tuple(new if d is current else d for d in job.deliveries)
