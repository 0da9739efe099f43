"""Commands: what is asked of the decider of a partition."""

from typing import TypeAlias

from msgspec import Struct

from schemas.values import Destination, FireKind, Vocabulary
from services.ledger.bounds import Instant, Int
from services.ledger.reports import DeliveryResult, ItemsReport, NodeReport, Outcome


class Command(Struct, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """What is asked of the decider; safe to repeat."""

    command_id: str  # the asker's; a reply names it
    org_id: str = ""  # empty: about a worker, or a batch over several orgs
    job_id: str = ""
    requester: str = ""  # boot id that listens for the reply; empty: nobody waits
    actor: str = ""  # api:<key id>, worker:<id>, writer:<id>, operator
    correlation_id: str = ""
    traceparent: str = ""


class RegisterOrg(Command, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """Register an org on this partition."""

    name: str
    plan: str = "standard"
    max_in_flight: Int = 5
    credits: Int | None = None  # the balance that it begins with; None: none, and metered only as its plan says


class ChangeOrgLimit(Command, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """Change limits of an org; None: as it is."""

    max_in_flight: Int | None = None
    max_pending: Int | None = None  # 0: as the setting says
    max_queue_seconds: Int | None = None  # 0: as the setting says
    retention_seconds: Int | None = None  # 0: as the setting says


class PauseOrg(Command, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """Dispatch no job of an org any more; what runs goes on."""


class ResumeOrg(Command, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """Dispatch jobs of an org again."""


class PauseWorkflow(Command, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """Dispatch no job of a workflow any more; what runs goes on, and other workflows of the org go before."""

    workflow_id: str


class ResumeWorkflow(Command, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """Dispatch jobs of a workflow again, each from the place where it stood."""

    workflow_id: str


class ChangePlan(Command, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """Put an org on another plan."""

    plan: str


class GrantCredits(Command, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """Give an org credits."""

    credits: Int
    idempotency_digest: bytes
    request_digest: bytes = b""


class SetCredits(Command, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """Set the balance of an org."""

    credits: Int
    idempotency_digest: bytes
    request_digest: bytes = b""


class Pinned(Struct, frozen=True, kw_only=True, gc=False, array_like=True):
    """The version of a workflow that a job runs for life."""

    workflow_id: str
    version: Int
    ref: str


class NewJob(Struct, frozen=True, kw_only=True, gc=False, array_like=True):
    """One job of a submission."""

    job_id: str
    domain: str = ""
    private: bytes = b""  # encoding byte and JSON of url, input and metadata
    pinned: Pinned | None = None  # where routes lead to another workflow than the rest of the submission


class SubmitJobs(Command, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """Submit one or many jobs of one org that share workflow and destinations; all are accepted or none."""

    jobs: tuple[NewJob, ...]
    vocabulary: Vocabulary = Vocabulary.WORKFLOW
    workflow_id: str = ""
    workflow_version: Int = 0
    workflow_ref: str = ""
    destinations: tuple[Destination, ...] = ()
    priority: Int = 0
    max_run_seconds: Int = 0
    idempotency_digest: bytes = b""
    request_digest: bytes = b""
    schedule_id: str = ""
    max_queue_seconds: Int = 0  # 0: as the org has it
    jobs_behind: Int = 0  # of the first of many commands of one submission: how many jobs the others bring
    first_digest: bytes = b""  # of the others: the idempotency digest of the first, which was accepted
    item_credits: Int = 0  # that each planned item costs which succeeds; of a module


class ResumeJob(Command, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """Submit a job that goes on where an ended one stopped, with its settings. One at a time for each job."""

    new: NewJob  # without private bytes: those of the job that it goes on from
    idempotency_digest: bytes = b""
    request_digest: bytes = b""


class FireSchedule(Command, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """Fire a schedule for a due time, unless it was fired for this or a later one; a trigger fires without one.

    No submission: the due time is recorded and nothing submitted, as `refused` says or because it is to be skipped.
    """

    schedule_id: str
    due_at: Instant  # of a trigger, when it was asked for
    how: FireKind = FireKind.CRON
    due_times: Int = 1  # how many this stands for
    submission: SubmitJobs | None = None
    refused: str = ""  # the code of why there is none
    before: tuple[Instant, ...] = ()  # of those due times, the ones before its own: some may be over by now


class CancelJob(Command, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """Cancel a job that is not terminal."""

    reason: str = ""


class RetryNow(Command, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """End the wait of a job in waiting_retry: it takes the next free slot of its org.

    Names the attempt that it waits behind, so that a copy that lands late ends no later wait.
    """

    attempt: Int = 0  # 0: its sender names none, which ends no wait


class DeleteJob(Command, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """Remove a job for good; one that has not ended is cancelled first."""

    reason: str = ""


class ExpireJob(Command, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """Have the results of an ended job purged, if they are past retention and nothing of it is under way any more."""


class ClaimTask(Command, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """Ask to own a job by one of its tasks, which is claimed once. Repeated by the same boot: the same grant."""

    dispatch: Int
    worker_id: str
    boot_id: str


class ReportProgress(Command, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """A worker's report on its job: nodes finished since the last report, and how the attempt ended if it did."""

    attempt: Int
    worker_id: str
    boot_id: str
    nodes: tuple[NodeReport, ...] = ()
    outcome: Outcome | None = None
    items: tuple[ItemsReport, ...] = ()


class SettleDeliveries(Command, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """A bulk-writer's answer for up to 100 deliveries of this partition, of any of its orgs."""

    results: tuple[DeliveryResult, ...]
    writer_id: str = ""


class AnnounceWorker(Command, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """A worker lives: said to every partition at each heartbeat. The reply names jobs it must drop."""

    worker_id: str
    boot_id: str
    kind: str
    slots: Int
    free_slots: Int
    running: tuple[str, ...] = ()  # job ids of this partition that it runs
    stopping: bool = False  # it takes no more tasks and has handed back those it had


class RedeliverJob(Command, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """Deliver once more to one destination. Names the generation to be made, so that a repeat makes no other one."""

    destination_id: str
    generation: Int


class WaiveDelivery(Command, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """Stop waiting for one destination, and stop trying it.

    Names the generation that it is about, so that a copy that lands late stops none that was asked for since.
    """

    destination_id: str
    generation: Int = 0  # 0: its sender names none, which stops none


class Probe(Command, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """Ask whether the decider of this partition answers; nothing follows from it."""


class ExplainJob(Command, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """Ask why a job stands where it stands; nothing follows from it."""


AnyCommand: TypeAlias = (
    RegisterOrg
    | ChangeOrgLimit
    | PauseOrg
    | ResumeOrg
    | PauseWorkflow
    | ResumeWorkflow
    | ChangePlan
    | GrantCredits
    | SetCredits
    | SubmitJobs
    | ResumeJob
    | FireSchedule
    | CancelJob
    | RetryNow
    | DeleteJob
    | ExpireJob
    | ClaimTask
    | ReportProgress
    | SettleDeliveries
    | AnnounceWorker
    | RedeliverJob
    | WaiveDelivery
    | Probe
    | ExplainJob
)
