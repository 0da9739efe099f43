"""Every event of the ledger, typed: what an event says, apart from where and when it was recorded.

Each class has the same name as its Avro record and its file `schemas/avro/<Name>.avsc`, which is generated from
it (`python -m schemas.generate`). Field descriptions stand here once and reach Avro and `docs/events.md`.
Times are microseconds since 1970-01-01 UTC.
"""

from typing import Annotated, TypeAlias

from schemas.event import Event as Event  # one place to import all from
from schemas.expiry_events import JobExpired as JobExpired
from schemas.item_events import ItemEvent as ItemEvent
from schemas.item_events import ItemsPlanned as ItemsPlanned
from schemas.item_events import ItemsRecorded as ItemsRecorded
from schemas.item_events import JobContinued as JobContinued
from schemas.item_events import JobLogged as JobLogged
from schemas.item_events import StatsRecorded as StatsRecorded
from schemas.org_events import EndpointDisabled as EndpointDisabled
from schemas.org_events import OrgEvent as OrgEvent
from schemas.org_events import OrgLimitChanged as OrgLimitChanged
from schemas.org_events import OrgPaused as OrgPaused
from schemas.org_events import OrgRegistered as OrgRegistered
from schemas.org_events import OrgResumed as OrgResumed
from schemas.org_events import WorkflowPaused as WorkflowPaused
from schemas.org_events import WorkflowResumed as WorkflowResumed
from schemas.partition_events import JobsArchived as JobsArchived
from schemas.partition_events import PositionMarked as PositionMarked
from schemas.partition_events import WorkerAlive as WorkerAlive
from schemas.partition_events import WorkerLost as WorkerLost
from schemas.partition_events import WriterOpened as WriterOpened
from schemas.values import Destination, FireKind, FireOutcome, Micros, NodeOutcome, ReleaseReason, Vocabulary, doc


class ScheduleFired(Event, frozen=True, kw_only=True, gc=False):
    """A schedule came to a due time, or was triggered; the events of its jobs follow."""

    schedule_id: Annotated[str, doc("the schedule")] = ""
    due_at: Annotated[Micros, doc("when it was due; of a trigger, when it was asked for")] = 0
    how: Annotated[FireKind, doc("by its clock, by a trigger, or for due times that were missed")] = FireKind.UNKNOWN
    outcome: Annotated[FireOutcome, doc("jobs were submitted, or refused, or it was skipped")] = FireOutcome.UNKNOWN
    code: Annotated[str, doc("why it was refused, in the code of a refused submission; empty: it was not")] = ""
    due_times: Annotated[int, doc("how many due times this stands for, its own included; 1,000 at most")] = 1
    job_ids: Annotated[tuple[str, ...], doc("the jobs that it submitted")] = ()


# ---- jobs ----


class JobSubmitted(Event, frozen=True, kw_only=True, gc=False):
    """A job was accepted. `private` holds url, input and metadata."""

    vocabulary: Annotated[Vocabulary, doc("vocabulary of the job")] = Vocabulary.WORKFLOW
    workflow_id: Annotated[str, doc("the workflow it runs, for life")] = ""
    workflow_version: Annotated[int, doc("the version of that workflow, for life")] = 0
    workflow_ref: Annotated[str, doc("blob key of the workflow document")] = ""
    domain: Annotated[str, doc("host name of the url")] = ""
    priority: Annotated[int, doc("higher goes first within the org; 0 by default")] = 0
    max_run_seconds: Annotated[int, doc("run-time limit from the first claim on; 0: none")] = 0
    destinations: Annotated[tuple[Destination, ...], doc("where the extraction goes; frozen here")] = ()
    idempotency_digest: Annotated[bytes, doc("16-byte digest of the caller's idempotency key; empty: none")] = b""
    request_digest: Annotated[bytes, doc("16-byte digest of the request body, beside the idempotency key")] = b""
    schedule_id: Annotated[str, doc("the schedule that fired; empty: submitted by a caller")] = ""
    max_queue_seconds: Annotated[int, doc("how long it may wait for its first claim; 0: for ever")] = 0
    credits: Annotated[int, doc("credits debited for the job by this event; 0: it is not metered")] = 0
    item_credits: Annotated[int, doc("credits that each planned item costs that succeeds; 0: none")] = 0


class JobDispatched(Event, frozen=True, kw_only=True, gc=False):
    """The job took a slot of its org and its task was put on the topic of tasks."""

    kind: Annotated[str, doc("kind of worker that may claim it")] = ""
    dispatch: Annotated[int, doc("how often the job has been dispatched, this time included")] = 0


class JobClaimed(Event, frozen=True, kw_only=True, gc=False):
    """A worker owns the job; `attempt` is the new fencing number."""

    worker_id: Annotated[str, doc("name of the worker")] = ""
    boot_id: Annotated[str, doc("identity of this run of the worker")] = ""


class NodeFinished(Event, frozen=True, kw_only=True, gc=False):
    """One visit of a workflow node ended. `private` holds the error message and the final url."""

    step: Annotated[int, doc("ordinal of this visit within the job, from 0")] = 0
    node_id: Annotated[str, doc("id of the node in the workflow")] = ""
    node_kind: Annotated[str, doc("entry, service, split, extractor, warehouse, result or failed")] = ""
    provider: Annotated[str, doc("provider that was called; empty for other nodes")] = ""
    try_number: Annotated[int, doc("which try at this node, from 1")] = 1
    outcome: Annotated[NodeOutcome, doc("succeeded, failed, or refused by the validation gate")] = NodeOutcome.UNKNOWN
    status_code: Annotated[int, doc("HTTP status of the answer; 0: none")] = 0
    error_type: Annotated[str, doc("class of the error; empty: none")] = ""
    rule: Annotated[str, doc("rule of the validation gate that refused the answer; empty: none")] = ""
    edge: Annotated[str, doc("edge taken: default, success or fail; empty: none, the node is tried again")] = ""
    next_node_id: Annotated[str, doc("node that comes next; empty: the walk ended")] = ""
    latency_ms: Annotated[int, doc("how long the visit took")] = 0
    started_at: Annotated[Micros, doc("when the visit began")] = 0
    ended_at: Annotated[Micros, doc("when the visit ended")] = 0
    body_ref: Annotated[str, doc("blob key of the body that the node produced; empty: none")] = ""
    content_type: Annotated[str, doc("content type of that body")] = ""
    body_bytes: Annotated[int, doc("size of that body in bytes")] = 0
    surcharge: Annotated[int, doc("credits debited by this event for the call that the next node makes")] = 0


class RetryScheduled(Event, frozen=True, kw_only=True, gc=False):
    """The node will be tried again later; until then the job holds no slot and no lease."""

    node_id: Annotated[str, doc("id of the node")] = ""
    try_number: Annotated[int, doc("number of the coming try")] = 0
    due_at: Annotated[Micros, doc("when it is due")] = 0
    error_type: Annotated[str, doc("what made the retry necessary")] = ""


class RetryBroughtForward(Event, frozen=True, kw_only=True, gc=False):
    """Somebody did not want to wait for the retry: it takes the next free slot of its org."""

    node_id: Annotated[str, doc("id of the node")] = ""
    due_at: Annotated[Micros, doc("when it is due now")] = 0


class JobReleased(Event, frozen=True, kw_only=True, gc=False):
    """A claimed job lost its worker and waits in its queue again; finished nodes stay finished."""

    reason: Annotated[ReleaseReason, doc("why")] = ReleaseReason.UNKNOWN
    worker_id: Annotated[str, doc("the worker that had it")] = ""
    boot_id: Annotated[str, doc("the run of that worker")] = ""


class JobExtracted(Event, frozen=True, kw_only=True, gc=False):
    """The walk ended in success: the data is in the blob store and goes to every destination."""

    result_ref: Annotated[str, doc("blob key of the scraped body")] = ""
    content_type: Annotated[str, doc("content type of the scraped body")] = ""
    result_bytes: Annotated[int, doc("size of the scraped body in bytes")] = 0
    extraction_ref: Annotated[str, doc("blob key of the extraction, a JSON object; empty: no extractor ran")] = ""
    schema_id: Annotated[str, doc("the caller's name for the shape of the extraction")] = ""
    data_type: Annotated[str, doc("the caller's name for the kind of data")] = ""
    items: Annotated[int, doc("how many items were extracted")] = 0
    quality_completeness: Annotated[float, doc("share of the fields that were found, 0 to 1")] = 0.0
    quality_validation: Annotated[float, doc("share of the found values that have their type, 0 to 1")] = 0.0
    quality_composite: Annotated[float, doc("both together, 0 to 1")] = 0.0
    latency_ms: Annotated[int, doc("from the first claim to here")] = 0


class JobCompleted(Event, frozen=True, kw_only=True, gc=False):
    """Every gating destination has acknowledged, or was waived. Terminal."""

    opened_by: Annotated[
        tuple[bytes, ...], doc("event ids that opened the gate: of each gating destination its first ACK or waiver")
    ] = ()


class JobFailed(Event, frozen=True, kw_only=True, gc=False):
    """The job ended without a result. Terminal. `private` holds the message."""

    error_type: Annotated[str, doc("class of the failure, e.g. providers_exhausted or validation_failed")] = ""
    rule: Annotated[str, doc("rule of the validation gate, for validation_failed")] = ""
    node_id: Annotated[str, doc("the node that returned the fail edge; empty: none")] = ""
    destination_id: Annotated[str, doc("the destination without whose ACK it failed; empty: none")] = ""
    refund: Annotated[int, doc("credits given back by this event: all that the job had cost; 0: none")] = 0


class JobCancelled(Event, frozen=True, kw_only=True, gc=False):
    """The caller cancelled the job. Terminal."""

    reason: Annotated[str, doc("why, in the caller's word")] = ""
    refund: Annotated[int, doc("credits given back by this event, as no worker had begun; 0: none")] = 0


class JobDeleted(Event, frozen=True, kw_only=True, gc=False):
    """The caller removed the job, which had ended: no reader shows it any more, and nothing brings it back."""

    reason: Annotated[str, doc("why, in the caller's word")] = ""


class JobRecalled(Event, frozen=True, kw_only=True, gc=False):
    """A job that had left memory is back in it, because something came in about it; nothing changed.

    `private` is that of the job.
    """

    last_seq: Annotated[int, doc("ordinal of the job's event before this one")] = 0
    state: Annotated[bytes, doc("what the decider knows of the job, in an encoding of its own; skip it")] = b""


class ReportRefused(Event, frozen=True, kw_only=True, gc=False):
    """A worker reported on a job that it does not own (any more); nothing else changed.

    How a job ended stays as it is, whatever its worker says afterwards: it stands here.
    """

    report: Annotated[str, doc("what was reported: nodes, extracted, failed, retry or release")] = ""
    claimed_attempt: Annotated[int, doc("the fencing number the report came with")] = 0
    worker_id: Annotated[str, doc("name of the worker")] = ""
    boot_id: Annotated[str, doc("identity of that run of the worker")] = ""
    reason: Annotated[str, doc("stale_attempt, job_terminal, job_deleted or not_claimed")] = ""
    outcome: Annotated[
        str, doc("how the attempt ended by this report: succeeded, or the class of its failure; empty: it has not")
    ] = ""
    items: Annotated[int, doc("how many items it reported with that end")] = 0


# ---- deliveries ----


class DeliveryRequested(Event, frozen=True, kw_only=True, gc=False):
    """The extraction of a job is to be written to one destination; also said again when no answer came."""

    destination_id: Annotated[str, doc("the destination")] = ""
    kind: Annotated[str, doc("kind of the destination")] = ""
    generation: Annotated[
        int, doc("which delivery of this job to this destination, from 1; a writer keeps the newest")
    ] = 1
    try_number: Annotated[int, doc("which try of this generation, from 1")] = 1
    gating: Annotated[bool, doc("whether the job waits for its ACK before it is completed")] = False
    erase: Annotated[
        bool, doc("true: the job was deleted or has expired, and what the destination holds of it has to go")
    ] = False


class DeliveryAcked(Event, frozen=True, kw_only=True, gc=False):
    """The destination holds the extraction durably."""

    destination_id: Annotated[str, doc("the destination")] = ""
    generation: Annotated[int, doc("the delivery that is acknowledged")] = 1
    rows: Annotated[int, doc("how many rows were written")] = 0
    writer_id: Annotated[str, doc("the bulk-writer that wrote them")] = ""
    place: Annotated[str, doc("where they were written, such as schema.table; empty: the destination itself")] = ""


class DeliveryFailed(Event, frozen=True, kw_only=True, gc=False):
    """One try at a destination failed. `private` holds the message."""

    destination_id: Annotated[str, doc("the destination")] = ""
    generation: Annotated[int, doc("the delivery that failed")] = 1
    try_number: Annotated[int, doc("which try failed, from 1")] = 1
    error_type: Annotated[str, doc("class of the error")] = ""
    next_try_at: Annotated[Micros, doc("when it is tried again; 0: not by itself")] = 0
    endpoint_version: Annotated[int, doc("of a webhook: which version of its endpoint was tried")] = 0


class DeliveryDeadLettered(Event, frozen=True, kw_only=True, gc=False):
    """A delivery is given up; what becomes of a job that waits for it, its destination's `on_exhausted` says."""

    destination_id: Annotated[str, doc("the destination")] = ""
    generation: Annotated[int, doc("the delivery that is given up")] = 1
    tries: Annotated[int, doc("how many tries were made")] = 0
    error_type: Annotated[str, doc("class of the last error")] = ""
    closed: Annotated[bool, doc("the destination was deleted or disabled since the job was submitted")] = False


class DeliveryWaived(Event, frozen=True, kw_only=True, gc=False):
    """Nobody waits for this delivery any more: its part of the gate is open. A late ACK is still recorded."""

    destination_id: Annotated[str, doc("the destination")] = ""
    generation: Annotated[int, doc("the delivery that is waived")] = 1
    reason: Annotated[str, doc("requested, exhausted, destination_closed or gate_deadline")] = ""


DeliveryEvent: TypeAlias = DeliveryRequested | DeliveryAcked | DeliveryFailed | DeliveryDeadLettered | DeliveryWaived
JobEvent: TypeAlias = (
    JobSubmitted
    | JobDispatched
    | JobClaimed
    | NodeFinished
    | RetryScheduled
    | RetryBroughtForward
    | JobReleased
    | JobExtracted
    | JobCompleted
    | JobFailed
    | JobCancelled
    | JobExpired
    | JobDeleted
    | JobRecalled
    | ReportRefused
    | ItemEvent
    | DeliveryEvent
)
AnyEvent: TypeAlias = (
    WriterOpened | PositionMarked | JobsArchived | OrgEvent | ScheduleFired | WorkerAlive | WorkerLost | JobEvent
)
EVENT_TYPES: dict[str, type[AnyEvent]] = {cls.__name__: cls for cls in AnyEvent.__args__}
