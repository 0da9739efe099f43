"""The rows that readers of release 0.1.0 got: what they may rely on of each column."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from msgspec import Struct

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class JobState(Struct):
    """The columns of `jobs` that events after the first may change."""

    org_id: str
    job_id: str
    status: str
    seq: int  # of the job's last event, as are the next two
    position: int
    cause: int
    attempt: int = 0
    dispatches: int = 0
    worker_id: str | None = None
    retry_at: datetime | None = None
    claimed_at: datetime | None = None
    extracted_at: datetime | None = None
    finished_at: datetime | None = None
    finished_seq: int | None = None
    result_ref: str | None = None
    content_type: str | None = None
    result_bytes: int | None = None
    extraction_ref: str | None = None
    schema_id: str | None = None
    data_type: str | None = None
    items: int | None = None
    quality_completeness: float | None = None
    quality_validation: float | None = None
    quality_composite: float | None = None
    latency_ms: int | None = None
    error_type: str | None = None
    rule: str | None = None
    node_id: str | None = None
    error_message: str | None = None
    opened_by: list[UUID] | None = None  # as JobCompleted recorded it


class Job(JobState, kw_only=True):
    """A row of `jobs`: the state, and what was said once, at submit."""

    partition: int
    vocabulary: str
    workflow_id: str
    workflow_version: int
    workflow_ref: str
    domain: str
    priority: int
    max_run_seconds: int
    destinations: Any  # list of {destination_id, kind, gating, on_exhausted}
    schedule_id: str | None
    correlation_id: str
    submitted_at: datetime
    private: bytes
    url: str | None
    input: Any
    metadata: Any


class Transition(Struct):
    """A row of `job_transitions`: one event of a job and the status after it."""

    org_id: str
    job_id: str
    seq: int
    event_id: UUID
    event_type: str
    status: str
    attempt: int
    occurred_at: datetime
    partition: int
    position: int
    actor: str


class Visit(Struct):
    """A row of `job_trace`: one visit of a workflow node."""

    org_id: str
    job_id: str
    seq: int
    event_id: UUID
    partition: int
    attempt: int
    step: int
    node_id: str
    node_kind: str
    provider: str
    try_number: int
    outcome: str
    status_code: int
    latency_ms: int
    error_type: str | None
    rule: str | None
    edge: str | None
    next_node_id: str | None
    started_at: datetime
    ended_at: datetime
    message: str | None
    final_url: str | None
    body_ref: str | None
    content_type: str | None
    body_bytes: int


class Delivery(Struct):
    """A row of `extraction_deliveries`: one generation of the delivery of a job to a destination."""

    org_id: str
    job_id: str
    destination_id: str
    generation: int
    partition: int
    kind: str
    status: str  # requested, waiting, acked or dead_lettered
    tries: int
    requested_at: datetime
    seq: int  # of the last event about it, as is the next
    position: int
    acked_at: datetime | None = None
    ack_event_id: UUID | None = None
    ack_seq: int | None = None
    rows: int | None = None
    writer_id: str | None = None
    error_type: str | None = None
    error_message: str | None = None
    next_try_at: datetime | None = None


class Checkpoint(Struct, frozen=True):
    """A row of `checkpoints`: how far a partition has been folded."""

    partition: int
    position: int = 0
    next_offset: int = 0
    occurred_at: datetime = EPOCH
    cause: int = -1


class Gate(Struct, frozen=True):
    """What a job waits for before it is completed, as its deliveries say."""

    expected: int
    acked: int
    pending: list[str]  # destination ids
    opened_by: list[UUID]
    opened_at: datetime | None


class JobStatus(Struct, frozen=True):
    """The little that polling needs."""

    job_id: str
    status: str
    submitted_at: datetime
    finished_at: datetime | None
    error_type: str | None
