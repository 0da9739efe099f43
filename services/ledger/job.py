"""One job: the state that its events add up to."""

from sys import intern
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
    JobDeleted,
    JobDispatched,
    JobEvent,
    JobExpired,
    JobExtracted,
    JobFailed,
    JobRecalled,
    JobReleased,
    JobSubmitted,
    NodeFinished,
    ReportRefused,
    RetryBroughtForward,
    RetryScheduled,
)
from schemas.item_events import ItemsPlanned, ItemsRecorded, JobContinued, JobLogged, StatsRecorded
from schemas.recorded import Recorded
from schemas.values import After, Destination, ReleaseReason, Vocabulary
from services.ledger import delivery as deliveries
from services.ledger.delivery import SETTLED, DeliveryStatus
from services.ledger.items import Items, evolve_items
from services.ledger.job_parts import NOT_ENDED, NOT_RUN, Ending, Run, Terms, kept, resume_after, terms_of
from services.ledger.status import TERMINAL, Status
from services.ledger.tasks import Resume

NOTICE_OF = {Status.COMPLETED: After.COMPLETED, Status.FAILED: After.FAILED}


class Job(Struct, frozen=True, gc=False, kw_only=True):
    """State of one job. Times are microseconds UTC.

    Texts that many jobs have in common are interned where they come in: a partition holds a million of these.
    """

    terms: Terms
    job_id: str
    domain: str
    private: bytes
    submitted_at: int
    status: Status = Status.PENDING
    seq: int = 1
    attempt: int = 0  # fencing number of the newest claim
    dispatch: int = 0  # how often it was dispatched
    task_out: bool = False  # its task is on the topic and nobody has claimed it
    run: Run = NOT_RUN
    ending: Ending = NOT_ENDED

    @property
    def org_id(self) -> str:
        """The org whose job it is."""
        return self.terms.org_id

    @property
    def vocabulary(self) -> Vocabulary:
        """The vocabulary it speaks, which is the kind of its tasks too."""
        return self.terms.vocabulary

    @property
    def destinations(self) -> tuple[Destination, ...]:
        """Where its extraction, and the notice of its end, go."""
        return self.terms.destinations

    @property
    def boot_id(self) -> str:
        """Run of the worker that claimed it last."""
        return self.run.boot_id

    @property
    def claimed_at(self) -> int:
        """When it was claimed last."""
        return self.run.claimed_at

    @property
    def resume(self) -> Resume:
        """Where its walk goes on."""
        return self.run.resume

    @property
    def items(self) -> Items | None:
        """How far it has come with its planned items; None: nothing is recorded of any."""
        return self.run.resume.items

    @property
    def extracted(self) -> JobExtracted | None:
        """What came of it."""
        return self.run.extracted

    @property
    def deliveries(self) -> tuple[DeliveryStatus, ...]:
        """The newest delivery to each destination that anything was asked of."""
        return self.run.deliveries

    @property
    def deleted(self) -> bool:
        """Whether nobody may see it any more; what was said of it is forgotten."""
        return self.ending.deleted

    @property
    def expired(self) -> bool:
        """Whether its results are past retention: they go, and nothing brings them back; the job itself stays."""
        return self.ending.expired_at > 0

    @property
    def parting(self) -> bool:
        """Whether its worker, from which it was taken by its end, may leave something behind still."""
        return self.ending.parting

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
        if self.deleted or self.expired:
            return delivery.erase
        if self.status is Status.FAILED:
            return delivery.destination.after is After.FAILED
        return self.status in (Status.EXTRACTION_DONE, Status.COMPLETED)

    @property
    def settled(self) -> bool:
        """Whether an ended job has nothing left to deliver, and nobody who may leave something of it behind."""
        under_way = any(each.state not in SETTLED for each in self.deliveries if self.delivers(each))
        if self.parting or under_way:
            return False
        told = {delivery.destination.destination_id for delivery in self.deliveries}
        return self.deleted or self.expired or all(notice.destination_id in told for notice in self.notices)

    def delivery(self, destination_id: str) -> DeliveryStatus | None:
        """Return the newest delivery to a destination."""
        return next((d for d in self.deliveries if d.destination.destination_id == destination_id), None)


def initial(recorded: Recorded, event: JobSubmitted) -> Job:
    """Begin a job."""
    return Job(
        terms=terms_of(event),
        job_id=event.job_id,
        domain=intern(event.domain),
        private=event.private,
        submitted_at=recorded.header.occurred_at,
        seq=recorded.header.seq,
    )


def evolve(job: Job, recorded: Recorded, event: JobEvent) -> Job:
    """Fold one event into a job. Never refuses: events are facts."""
    seq, at = recorded.header.seq, recorded.header.occurred_at  # below, what every job comes to is asked for first
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
                run=_claimed(job, event, at),
            )
        case NodeFinished():
            surcharged = job.run.surcharged + event.surcharge
            return replace(
                job, seq=seq, run=replace(job.run, resume=resume_after(job.resume, event), surcharged=surcharged)
            )
        case JobExtracted():
            run = replace(job.run, extracted=kept(event, job.org_id, job.job_id, job.resume), extracted_at=at)
            return replace(job, seq=seq, status=Status.EXTRACTION_DONE, run=run)
        case JobCompleted():
            return _ended(job, recorded, Status.COMPLETED)
        case DeliveryRequested() | DeliveryAcked() | DeliveryFailed() | DeliveryDeadLettered() | DeliveryWaived():
            return replace(job, seq=seq, run=replace(job.run, deliveries=_delivered(job, recorded, event)))
        case RetryScheduled():
            return replace(job, seq=seq, status=Status.WAITING_RETRY, run=replace(job.run, retry_due_at=event.due_at))
        case RetryBroughtForward():
            return replace(job, seq=seq, run=replace(job.run, retry_due_at=event.due_at))
        case JobReleased():
            losses = job.run.losses + (event.reason is ReleaseReason.LEASE_EXPIRED)
            return replace(job, seq=seq, status=Status.PENDING, run=replace(job.run, losses=losses))
        case JobFailed():
            return _ended(job, recorded, Status.FAILED, replace(event, private=b"", refund=0))
        case JobCancelled():
            return _ended(job, recorded, Status.CANCELLED)
        case JobExpired():
            return replace(job, seq=seq, ending=replace(job.ending, expired_at=at))
        case JobDeleted():
            return _emptied(job, recorded)
        case ItemsPlanned() | ItemsRecorded() | JobLogged() | StatsRecorded() | JobContinued():
            items = evolve_items(job.items, job.job_id, event)
            return replace(job, seq=seq, run=replace(job.run, resume=replace(job.resume, items=items)))
        case ReportRefused():
            return _refused(job, seq, event)
        case JobSubmitted() | JobRecalled():
            return replace(job, seq=seq)
        case _:
            assert_never(event)


def _claimed(job: Job, event: JobClaimed, at: int) -> Run:
    return replace(
        job.run,
        worker_id=intern(event.worker_id),
        boot_id=intern(event.boot_id),
        spent=job.dispatch,
        claimed_at=at,
        first_claimed_at=job.run.first_claimed_at or at,
    )


def _ended(job: Job, recorded: Recorded, status: Status, failed: JobFailed | None = None) -> Job:
    header = recorded.header
    return replace(
        job,
        seq=header.seq,
        status=status,
        task_out=False,
        ending=Ending(
            correlation_id=header.correlation_id,
            at=header.occurred_at,
            position=header.position,
            failed=failed,
            parting=job.status is Status.RUNNING and header.actor != f"worker:{job.run.worker_id}",
        ),
    )


def parted(job: Job) -> Job:
    """Return a job that its worker is at no more: it has said so, or was lost."""
    return replace(job, ending=replace(job.ending, parting=False)) if job.parting else job


def _refused(job: Job, seq: int, event: ReportRefused) -> Job:
    """Note a report that came too late; any but one of nodes is the worker's last word on the job."""
    last_word = event.boot_id == job.boot_id and event.report != "nodes"
    return replace(parted(job) if last_word else job, seq=seq)


def _emptied(job: Job, recorded: Recorded) -> Job:
    """Return what is kept of a deleted job: who it was and how it ended, so that what comes late is known."""
    erasing = tuple(each for each in job.deliveries if each.erase)  # of results that had expired before
    return replace(
        job,
        seq=recorded.header.seq,
        private=b"",
        domain="",
        run=replace(job.run, resume=Resume(step=job.resume.step, items=job.items), extracted=None, deliveries=erasing),
        ending=replace(job.ending, failed=None, deleted=True),
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
