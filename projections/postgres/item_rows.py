"""The rows that tell of items, of what a job said and counted, and what their events do to them. Pure."""

from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
from msgspec import Struct

from projections.postgres.rows import JobState, event_uuid, instant
from projections.private import Open, in_clear
from schemas.item_events import ItemEvent, ItemsRecorded, JobLogged, StatsRecorded
from schemas.recorded import Header
from schemas.storable import storable
from services.ledger.items import Items, evolve_items


class Chunk(Struct, gc=False):
    """A row of `item_chunks`: one chunk of planned items, with where its parts are in its blob."""

    org_id: str
    job_id: str
    chunk: int
    chain_id: str
    seq: int
    event_id: UUID
    partition: int
    position: int
    attempt: int
    occurred_at: datetime
    items_ref: str
    rows_bytes: int
    outcomes_bytes: int
    stats_bytes: int
    digest: bytes
    first_item: int
    next_item: int
    first_row: int
    rows: int
    errors: int
    resume_item: int
    errors_before: int


class Lines(Struct, gc=False):
    """A row of `job_logs`: lines that a job said."""

    org_id: str
    job_id: str
    seq: int
    number: int
    event_id: UUID
    partition: int
    position: int
    attempt: int
    occurred_at: datetime
    lines: Any  # list of {level, message, timestamp}; empty where a blob has them
    lines_ref: str | None  # that blob
    lines_bytes: int
    levels: list[int]  # how many lines of debug, info, warning, error, critical; empty: not counted


class Stats(Struct, gc=False):
    """A row of `job_stats`: the newest statistics of a run."""

    org_id: str
    job_id: str
    seq: int
    number: int
    event_id: UUID
    partition: int
    position: int
    attempt: int
    occurred_at: datetime
    scraped: int
    final: bool
    routed: int
    stats: Any  # an object; null: it is sealed, and its key is gone


def progress_of(stored: Any) -> Items | None:
    """Return how far a job has come, of its column."""
    return None if stored is None else msgspec.convert(stored, Items)


def come_on(job: JobState, event: ItemEvent) -> None:
    """Fold an event into how far its job has come."""
    items = evolve_items(progress_of(job.progress), job.job_id, event)
    job.progress, job.chain_id = msgspec.to_builtins(items), items.chain_id


def chunk_row(job: JobState, header: Header, event: ItemsRecorded) -> Chunk:
    """Make the row that tells of a chunk."""
    return Chunk(
        event.org_id,
        event.job_id,
        event.chunk,
        job.chain_id or event.job_id,
        header.seq,
        event_uuid(header.event_id),
        header.partition,
        header.position,
        event.attempt,
        instant(header.occurred_at),
        event.items_ref,
        event.rows_bytes,
        event.outcomes_bytes,
        event.stats_bytes,
        event.digest,
        event.first_item,
        event.next_item,
        event.first_row,
        event.rows,
        event.errors,
        event.resume_item,
        event.errors_before,
    )


def lines_row(header: Header, event: JobLogged, opened: Open = in_clear) -> Lines:
    """Make the row that tells of lines."""
    return Lines(
        event.org_id,
        event.job_id,
        header.seq,
        event.number,
        event_uuid(header.event_id),
        header.partition,
        header.position,
        event.attempt,
        instant(header.occurred_at),
        storable(opened(event).get("lines", [])),
        event.lines_ref or None,
        event.lines_bytes,
        list(event.levels),
    )


def stats_row(header: Header, event: StatsRecorded, opened: Open = in_clear) -> Stats:
    """Make the row that tells of statistics."""
    return Stats(
        event.org_id,
        event.job_id,
        header.seq,
        event.number,
        event_uuid(header.event_id),
        header.partition,
        header.position,
        event.attempt,
        instant(header.occurred_at),
        event.scraped,
        event.final,
        event.routed,
        storable(opened(event)),
    )
