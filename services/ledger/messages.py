"""What processes say to each other beside events: commands, replies, tasks and deliveries.

Internal and short-lived, hence msgpack (`services.ledger.wire`), not Avro. A new field goes to the end and has a
default, so that old and new processes understand each other during an upgrade.
"""

from enum import StrEnum
from typing import Annotated, TypeAlias

from msgspec import Meta, Struct

from schemas.values import After, Destination, NodeOutcome, Vocabulary

# Milliseconds of it are microseconds that an event, whose numbers have 64 bits, can hold together with a time.
Int = Annotated[int, Meta(ge=-(2**43), le=2**43)]

# ---- commands: to the decider of a partition ----


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


class ChangeOrgLimit(Command, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """Change how many jobs of an org may be in flight."""

    max_in_flight: Int


class NewJob(Struct, frozen=True, kw_only=True, gc=False, array_like=True):
    """One job of a submission."""

    job_id: str
    domain: str = ""
    private: bytes = b""  # encoding byte and JSON of url, input and metadata


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


class CancelJob(Command, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """Cancel a job that is not terminal."""

    reason: str = ""


class DeleteJob(Command, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """Remove a job for good; one that has not ended is cancelled first."""

    reason: str = ""


class ClaimTask(Command, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """Ask to own a dispatched job. Repeated by the same boot, it gets the same grant."""

    dispatch: Int
    worker_id: str
    boot_id: str


class NodeReport(Struct, frozen=True, kw_only=True, gc=False, array_like=True):
    """One finished visit of a node; the fields of NodeFinished, times as durations of the worker's own clock."""

    step: Int
    node_id: str
    node_kind: str
    provider: str = ""
    try_number: Int = 1
    outcome: NodeOutcome = NodeOutcome.SUCCEEDED
    status_code: Int = 0
    error_type: str = ""
    rule: str = ""
    edge: str = ""
    next_node_id: str = ""
    latency_ms: Int = 0
    body_ref: str = ""
    content_type: str = ""
    body_bytes: Int = 0
    private: bytes = b""


class Extracted(Struct, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """The walk ended in success; the fields of JobExtracted."""

    result_ref: str
    content_type: str = ""
    result_bytes: Int = 0
    extraction_ref: str = ""
    schema_id: str = ""
    data_type: str = ""
    items: Int = 0
    quality_completeness: float = 0.0
    quality_validation: float = 0.0
    quality_composite: float = 0.0


class Failed(Struct, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """The walk ended in failure."""

    error_type: str
    rule: str = ""
    node_id: str = ""
    private: bytes = b""
    destination_id: str = ""  # without whose ACK the job failed


class RetryLater(Struct, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """The node wants to be tried again after a while, without holding a slot."""

    node_id: str
    try_number: Int  # of the coming try
    delay_ms: Int
    error_type: str = ""


class HandedBack(Struct, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """The worker stops and gives the job back to its queue."""


Outcome: TypeAlias = Extracted | Failed | RetryLater | HandedBack


class ReportProgress(Command, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """A worker's report on its job: nodes finished since the last report, and how the attempt ended if it did."""

    attempt: Int
    worker_id: str
    boot_id: str
    nodes: tuple[NodeReport, ...] = ()
    outcome: Outcome | None = None


class DeliveryResult(Struct, frozen=True, kw_only=True, gc=False, array_like=True):
    """What came of one delivery. `error_type` empty: the destination holds it durably."""

    org_id: str
    job_id: str
    destination_id: str
    generation: Int
    try_number: Int = 1
    rows: Int = 0
    error_type: str = ""
    retryable: bool = True
    retry_after_ms: Int = 0
    private: bytes = b""
    closed: bool = False  # the destination was deleted or disabled: no try can succeed


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
    """Stop waiting for one destination, and stop trying it."""

    destination_id: str


class Probe(Command, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """Ask whether the decider of this partition answers; nothing follows from it."""


class ExplainJob(Command, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """Ask why a job stands where it stands; nothing follows from it."""


AnyCommand: TypeAlias = (
    RegisterOrg
    | ChangeOrgLimit
    | SubmitJobs
    | CancelJob
    | DeleteJob
    | ClaimTask
    | ReportProgress
    | SettleDeliveries
    | AnnounceWorker
    | RedeliverJob
    | WaiveDelivery
    | Probe
    | ExplainJob
)

# ---- replies: from the decider to whoever asked, after the commit ----


class Done(Struct, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """The command is in effect, now or since earlier."""

    job_ids: tuple[str, ...] = ()  # of a submission, in its order
    repeated: bool = False  # true: an earlier command with the same idempotency key had made them


class Granted(Struct, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """The job is yours under this fencing number, to be continued at `resume`."""

    attempt: Int
    resume: "Resume"


class Refused(Struct, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """The command has no effect, and why."""

    code: str  # unknown_org, unknown_job, job_terminal, idempotency_conflict, not_dispatched, stale_attempt ...
    message: str = ""


class Drop(Struct, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """Stop working on these jobs: they are cancelled, or no longer yours. Also sent unasked."""

    job_ids: tuple[str, ...] = ()


class Because(StrEnum):
    """What a job waits for."""

    TURN = "turn"  # other orgs have theirs first
    ORG_CAP = "org_cap"  # as many jobs of its org are dispatched or running as may be
    FLEET_FULL = "fleet_full"  # as many tasks are out and unclaimed as the workers can take
    NO_WORKERS = "no_workers"  # no worker of its kind lives
    CLAIM = "claim"  # it is dispatched: the next free worker claims it
    WORKER = "worker"  # one runs it
    BACKOFF = "backoff"  # a node is to be tried again later
    ACKS = "acks"  # destinations have not acknowledged
    ENDED = "ended"


class Awaited(Struct, frozen=True, kw_only=True, gc=False, array_like=True):
    """A gating delivery whose ACK is missing. Times are microseconds UTC, 0: none."""

    destination_id: str
    kind: str
    state: str  # requested, waiting, dead
    try_number: Int
    failures: Int = 0
    next_try_at: int = 0
    deadline_at: int = 0


class Explained(Struct, frozen=True, kw_only=True, gc=False, array_like=True, tag=True):
    """Why a job stands where it stands. Times are microseconds UTC, 0: none; counts are of its partition."""

    status: str
    because: Because
    since: int
    attempt: Int
    until: int = 0
    node_id: str = ""
    worker_id: str = ""
    ahead: Int = 0  # jobs of its org that take a slot before it
    in_flight: Int = 0  # jobs of its org
    max_in_flight: Int = 0
    holders: tuple[str, ...] = ()  # the jobs that hold the org's slots, up to 100
    orgs_waiting: Int = 0  # orgs with a job that could go at once
    unclaimed: Int = 0  # tasks that are out
    window: Int = 0  # how many may be
    workers: Int = 0
    slots: Int = 0
    awaited: tuple[Awaited, ...] = ()


Answer: TypeAlias = Done | Granted | Refused | Drop | Explained


class Reply(Struct, frozen=True, kw_only=True, gc=False, array_like=True):
    """The answer to one command."""

    command_id: str  # empty: sent unasked
    requester: str
    body: Answer
    partition: Int = 0
    position: int = 0  # of the last event when the command had been decided: a reader at it sees the effect


# ---- tasks and deliveries: from the decider to workers and writers, in the same transaction as the events ----


class Resume(Struct, frozen=True, kw_only=True, gc=False, array_like=True):
    """Where a walk goes on: all empty for a fresh job."""

    step: Int = 0  # ordinal of the next node visit within the job
    node_id: str = ""  # empty: at the entry
    try_number: Int = 1  # of the next try at that node
    body_ref: str = ""  # the body that the last finished node left
    content_type: str = ""
    saw_verdict: bool = False  # some branch so far was exhausted by a verdict of the validation gate
    saw_error: bool = False  # some branch so far was exhausted by a provider error


class Task(Struct, frozen=True, kw_only=True, gc=False, array_like=True):
    """A job that may be claimed."""

    org_id: str
    job_id: str
    partition: Int  # of the ledger: where claims and reports go
    dispatch: Int
    vocabulary: Vocabulary
    workflow_ref: str
    private: bytes
    max_run_seconds: Int = 0
    traceparent: str = ""


class Delivery(Struct, frozen=True, kw_only=True, gc=False, array_like=True):
    """An extraction to be written to one destination, or the notice that its job has ended."""

    org_id: str
    job_id: str
    partition: Int
    destination_id: str
    kind: str
    generation: Int
    try_number: Int
    result_ref: str
    content_type: str
    extraction_ref: str
    domain: str = ""
    schema_id: str = ""
    data_type: str = ""
    items: Int = 0
    quality_completeness: float = 0.0
    quality_validation: float = 0.0
    quality_composite: float = 0.0
    latency_ms: Int = 0
    submitted_at: int = 0  # microseconds UTC
    extracted_at: int = 0  # microseconds UTC
    after: After = After.EXTRACTION  # COMPLETED, FAILED: a notice of that end
    ended_position: Int = 0  # of a job's end; a notice goes out once Postgres has folded so far
    ended_at: int = 0  # microseconds UTC
    failed: Failed | None = None  # why the job failed, without private bytes
    erase: bool = False  # the job was deleted: take away what the destination holds of it, and keep it away


class DeliveryBatch(Struct, frozen=True, kw_only=True, gc=False, array_like=True):
    """One record of a topic of deliveries: up to 100 deliveries of one ledger partition."""

    deliveries: tuple[Delivery, ...]
