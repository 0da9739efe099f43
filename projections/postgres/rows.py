"""The rows of the read model, typed: each struct's fields are its table's columns, in their order.

Texts that say nothing are None where the column may be null. Times are aware datetimes in UTC, exact to the
microsecond. Rows are values of one fold: whoever changes one owns it. None refers to a row, so that the collector of
cycles need not look at them: there are thousands in a batch.
"""

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any
from uuid import UUID

import msgspec
from msgspec import Struct

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
REMEMBERED_INSTANTS = 64  # an event says the time of several rows, one after the other
NEVER = datetime.max.replace(tzinfo=UTC)

JobKey = tuple[str, str]  # org_id, job_id
FireKey = tuple[str, int]  # org_id, seq
DeliveryKey = tuple[str, str, str, int]  # org_id, job_id, destination_id, generation


@lru_cache(REMEMBERED_INSTANTS)
def instant(micros: int) -> datetime:
    """Return the datetime of microseconds since 1970; what no datetime can say becomes the latest one."""
    try:
        return EPOCH + timedelta(microseconds=micros)
    except OverflowError:
        return NEVER


def event_uuid(event_id: bytes) -> UUID:
    """Return the UUID of 16 bytes, in a fifth of the time that its own constructor takes."""
    return msgspec.convert(event_id, UUID)


def micros(at: datetime) -> int:
    """Return microseconds since 1970, exactly."""
    return (at - EPOCH) // timedelta(microseconds=1)


class JobState(Struct, gc=False):
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
    destination_id: str | None = None  # without whose ACK it failed
    boot_id: str | None = None  # of the newest claim
    ended_for: str | None = None  # correlation id of what ended it
    expired_at: datetime | None = None  # since when its results are past retention, and go
    progress: Any = None  # of planned items, as `services.ledger.items.Items` says it
    chain_id: str | None = None  # the first job of its chain


class Job(JobState, kw_only=True, gc=False):
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
    item_credits: int
    url: str | None
    input: Any
    metadata: Any


class Deleted(Struct, gc=False):
    """A row of `deleted_jobs`: that there was a job, how it ended, and how far its events go."""

    org_id: str
    job_id: str
    partition: int
    status: str
    seq: int  # of the job's last event, as is the next
    position: int
    attempt: int
    boot_id: str | None
    erasures: int  # how often the stores were asked to forget it
    deleted_at: datetime


class Transition(Struct, gc=False):
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


class Visit(Struct, gc=False):
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


class Delivery(Struct, gc=False):
    """A row of `extraction_deliveries`: one generation of the delivery of a job to a destination."""

    org_id: str
    job_id: str
    destination_id: str
    generation: int
    partition: int
    kind: str
    status: str  # requested, waiting, acked, dead_lettered or waived
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
    waived_at: datetime | None = None
    waive_event_id: UUID | None = None
    waive_seq: int | None = None
    waive_reason: str | None = None
    place: str | None = None  # where the rows are; None: the destination itself
    erase: bool = False  # the destination was asked to forget the job


class Fire(Struct, gc=False):
    """A row of `schedule_fires`: one fire of a schedule, and what became of it."""

    org_id: str
    seq: int  # within the org
    schedule_id: str
    event_id: UUID
    partition: int
    position: int
    due_at: datetime
    how: str  # cron, trigger or missed
    outcome: str  # submitted, refused or skipped
    code: str | None  # why it was refused
    due_times: int  # how many it stands for
    job_ids: list[str]
    fired_at: datetime
    actor: str


class Checkpoint(Struct, frozen=True, gc=False):
    """A row of `checkpoints`: how far a partition has been folded."""

    partition: int
    position: int = 0
    next_offset: int = 0
    occurred_at: datetime = EPOCH
    cause: int = -1
