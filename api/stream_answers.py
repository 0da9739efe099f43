"""What a stream of a job sends: Server-Sent Events, their shapes and their bytes."""

from typing import Literal

import msgspec
from msgspec import Struct

from api import shown
from api.answers import Answer, Job, TraceEntry, Transition
from api.positions import Position
from api.times import Timestamp, iso
from projections.postgres.rows import Transition as TransitionRow
from projections.postgres.rows import Visit
from services.ledger.status import TERMINAL

MEDIA_TYPE = "text/event-stream"
KEEPALIVE = b": keepalive\n\n"
ResetReason = Literal["too_old", "unknown", "other_partition", "slow"]
EndReason = Literal["shutdown", "deleted", "unauthenticated", "fault"]


class StreamedEvent(Answer, frozen=True, kw_only=True):
    """One event of the job. `transition` and `trace` are the entries that it adds to those of the job, if any."""

    job_id: str
    seq: int  # gapless within the job, from 1
    type: str  # as in docs/events.md
    event_id: str
    partition: int
    position: int
    occurred_at: Timestamp
    status: str  # of the job after it
    attempt: int
    transition: Transition | None
    trace: TraceEntry | None


class StreamReset(Answer, frozen=True, kw_only=True):
    """What was sent before does not go on here; a snapshot follows.

    too_old: more events lie between than are kept; unknown: no such position; slow: the viewer fell too far behind.
    """

    reason: ResetReason


class StreamClosing(Answer, frozen=True, kw_only=True):
    """The server ends the stream before the job has ended; `reconnect` says whether to come back at once.

    shutdown: this instance stops, another one serves; fault: one of ours; unauthenticated: the key was revoked.
    """

    reason: EndReason
    reconnect: bool


class SnapshotMessage(Struct, frozen=True, kw_only=True):
    """`snapshot`: the job as `GET` answers it; `id` is the position of its last event."""

    event: Literal["snapshot"]
    id: str
    data: Job


class EventMessage(Struct, frozen=True, kw_only=True):
    """`event`: one event of the job, in order, each once; `done`: the one that ends it, the last of the stream."""

    event: Literal["event", "done"]
    id: str
    data: StreamedEvent


class ResetMessage(Struct, frozen=True, kw_only=True):
    """`reset`: forget what came before."""

    event: Literal["reset"]
    data: StreamReset


class ClosingMessage(Struct, frozen=True, kw_only=True):
    """`close`: why the server ends the stream before the job has ended."""

    event: Literal["close"]
    data: StreamClosing


StreamMessage = SnapshotMessage | EventMessage | ResetMessage | ClosingMessage


def sse(event: str, data: Struct, at: Position | None = None) -> bytes:
    """Return the bytes of one event; JSON has no line breaks of its own."""
    place = f"id: {at}\n" if at else ""
    return f"{place}event: {event}\ndata: ".encode() + msgspec.json.encode(data) + b"\n\n"


def retry(milliseconds: int) -> bytes:
    """Return the hint when to come back after the stream broke."""
    return f"retry: {milliseconds}\n\n".encode()


def told(row: TransitionRow, visit: Visit | None, before: str) -> bytes:
    """Return the bytes of an event of a job that stood in the status `before`; empty: it was not there yet."""
    at = iso(row.occurred_at)
    event = StreamedEvent(
        job_id=row.job_id,
        seq=row.seq,
        type=row.event_type,
        event_id=str(row.event_id),
        partition=row.partition,
        position=row.position,
        occurred_at=at,
        status=row.status,
        attempt=row.attempt,
        transition=Transition(status=row.status, at=at, attempt=row.attempt) if row.status != before else None,
        trace=shown.visit(visit) if visit else None,
    )
    return sse("done" if row.status in TERMINAL else "event", event, Position(row.partition, row.position))
