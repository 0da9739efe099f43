"""What callers get: one struct per answer, in the camelCase of the published API."""

from typing import Any, Literal, TypeAlias

import msgspec

from api.times import Timestamp

DataState: TypeAlias = Literal["kept", "expired"]  # of what a job that has ended left; null before


class Answer(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Every field is always there; what is not known (yet) is null."""


class JobStatus(Answer, frozen=True, kw_only=True):
    """Where one job stands."""

    job_id: str
    status: str


class SubmittedJobs(Answer, frozen=True, kw_only=True):
    """The jobs made, in the order of `urls`."""

    jobs: list[JobStatus]


class Statuses(Answer, frozen=True, kw_only=True):
    """Where the jobs stand, in the order asked; `unknown` names those that do not exist (for this org)."""

    jobs: list[JobStatus]
    unknown: list[str]


class Transition(Answer, frozen=True, kw_only=True):
    """One change of status."""

    status: str
    at: Timestamp
    attempt: int


class TraceEntry(Answer, frozen=True, kw_only=True):
    """One finished visit of a workflow node."""

    step: int
    node: str
    kind: str
    provider: str | None
    attempt: int  # which try at this node, from 1
    outcome: str
    status_code: int | None
    latency_ms: int
    error_type: str | None
    error_message: str | None
    rule: str | None
    edge: str | None
    next_node: str | None
    started_at: Timestamp
    ended_at: Timestamp


class Gate(Answer, frozen=True, kw_only=True):
    """How many destinations have to acknowledge, and which have not; open, it names the events that opened it.

    `waived` destinations are waited for no more: `expected` is `acked` and these and `pending` together.
    """

    expected: int
    acked: int
    waived: list[str]
    pending: list[str]
    opened_by: list[str]
    opened_at: Timestamp | None


class Job(JobStatus, frozen=True, kw_only=True):
    """Everything about one job."""

    org_id: str
    workflow_id: str | None
    version: int | None
    domain: str
    url: str | None
    input: dict[str, Any] | None
    metadata: dict[str, Any] | None
    priority: int
    attempt: int
    error_type: str | None
    error_message: str | None
    rule: str | None  # of the last verdict, where the job failed by validation
    failed_node: str | None  # that took its fail edge last, or had none
    schedule_id: str | None
    created_at: Timestamp
    updated_at: Timestamp
    completed_at: Timestamp | None
    data_state: DataState | None
    expired_at: Timestamp | None  # since when its results are past retention
    transitions: list[Transition]
    execution_trace: list[TraceEntry]
    gate: Gate
    explain: str | None  # path of the call that says what it waits for; null: it has ended


class JobSummary(JobStatus, frozen=True, kw_only=True):
    """One line of the list of jobs."""

    workflow_id: str | None
    version: int | None
    domain: str
    url: str | None
    priority: int
    schedule_id: str | None
    error_type: str | None
    created_at: Timestamp
    completed_at: Timestamp | None
    expired_at: Timestamp | None


class Jobs(Answer, frozen=True, kw_only=True):
    """A page of jobs in the order asked; `nextCursor` is null on the last page."""

    jobs: list[JobSummary]
    next_cursor: str | None


class Cancelled(Answer, frozen=True, kw_only=True):
    """The cancellation is recorded; the job's status follows at once."""

    job_id: str
    accepted: bool


class Hastened(Answer, frozen=True, kw_only=True):
    """The wait of the job has ended; it takes the next free slot of its org."""

    job_id: str
    accepted: bool


class Deleted(Answer, frozen=True, kw_only=True):
    """The job is deleted for good. `deleted` is false in an answer 202: for a moment readers may still see it."""

    job_id: str
    deleted: bool


class ExtractionResult(Answer, frozen=True, kw_only=True):
    """What the internal Postgres destination holds of a job."""

    id: str
    org_id: str
    job_id: str
    domain: str
    schema_id: str
    data_type: str
    normalized: Any
    raw_blob_key: str
    quality_completeness: float
    quality_validation: float
    quality_composite: float
    latency_ms: int
    delivered_at: Timestamp
    created_at: Timestamp


class Extractions(Answer, frozen=True, kw_only=True):
    """A page of extractions, newest first; `indexingPending` jobs like these have an extraction on its way.

    `emptyReason` says why there is none where there was one: past retention.
    """

    extractions: list[ExtractionResult]
    page: int
    page_size: int
    has_more: bool
    indexing_pending: int
    empty_reason: Literal["past retention"] | None


class NotYet(Answer, frozen=True, kw_only=True):
    """The extraction is done and on its way to the store."""

    job_id: str
    status: str
    retry_after_seconds: int


class FieldProblem(Answer, frozen=True, kw_only=True):
    """One of several fields at fault."""

    field: str
    message: str


class Error(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An error: a code of docs/errors.md, a message for people, the field at fault where there is one."""

    error: str
    message: str
    field: str | msgspec.UnsetType = msgspec.UNSET
    problems: list[FieldProblem] | msgspec.UnsetType = msgspec.UNSET  # where several fields are at fault
    status: str | msgspec.UnsetType = msgspec.UNSET  # of the job, where that is why
    request_id: str | msgspec.UnsetType = msgspec.UNSET
