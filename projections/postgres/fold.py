"""Folds a batch of events onto the current rows of the jobs they are about, to one row per key. Pure.

The current rows are loaded, not patched blindly: a fold that sees the row can skip an event it has already folded,
refuse one that does not follow, tell the status after each event and clear a column; the load is two index scans.

FoldError
├── MissingJob   an event continues a job that has no row
└── SkippedSeq   an event is not the next one of its job
"""

from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass, field

from projections.postgres import evolve
from projections.postgres.item_rows import Chunk, Lines, Stats, chunk_row, lines_row, stats_row
from projections.postgres.rows import Deleted, Delivery, DeliveryKey, Fire, FireKey, JobKey, JobState, Transition, Visit
from projections.postgres.usage import Transaction, Usage, fold_usage
from projections.private import Open, in_clear
from schemas.events import (
    DeliveryEvent,
    EndpointDisabled,
    ItemsRecorded,
    JobDeleted,
    JobEvent,
    JobExpired,
    JobLogged,
    JobSubmitted,
    NodeFinished,
    ScheduleFired,
    StatsRecorded,
)
from schemas.recorded import Header, Recorded
from services.runtime.shredding.codec import is_sealed


class FoldError(Exception):
    """The events do not continue the rows; the read model has to be rebuilt."""


class MissingJob(FoldError):
    """An event continues a job that has no row."""


class SkippedSeq(FoldError):
    """An event is not the next one of its job."""


@dataclass(frozen=True, slots=True)
class Current:
    """The rows that a batch starts from: those of its jobs, the deliveries of these, and what stays of deleted ones."""

    jobs: Mapping[JobKey, JobState] = field(default_factory=dict)
    deliveries: Mapping[DeliveryKey, Delivery] = field(default_factory=dict)
    deleted: Mapping[JobKey, Deleted] = field(default_factory=dict)
    usage: Mapping[str, Usage] = field(default_factory=dict)  # by org


@dataclass(slots=True)
class Changes:
    """What a batch makes of the rows. A `Job` is a new row, a plain `JobState` changes one.

    Of the jobs in `erased` every row goes, but for that in `deleted`.
    """

    jobs: dict[JobKey, JobState] = field(default_factory=dict)
    transitions: list[Transition] = field(default_factory=list)
    visits: list[Visit] = field(default_factory=list)
    deliveries: dict[DeliveryKey, Delivery] = field(default_factory=dict)
    deleted: dict[JobKey, Deleted] = field(default_factory=dict)
    erased: set[JobKey] = field(default_factory=set)
    fires: dict[FireKey, Fire] = field(default_factory=dict)
    usage: dict[str, Usage] = field(default_factory=dict)  # by org
    transactions: list[Transaction] = field(default_factory=list)
    disabled: list[Recorded] = field(default_factory=list)  # of `EndpointDisabled`
    chunks: list[Chunk] = field(default_factory=list)
    lines: list[Lines] = field(default_factory=list)
    stats: dict[JobKey, Stats] = field(default_factory=dict)
    expired: set[JobKey] = field(default_factory=set)
    left: set[JobKey] = field(default_factory=set)  # org and first job of chains that a job's results have left


def job_keys(batch: Iterable[Recorded]) -> set[JobKey]:
    """Return the jobs that a batch is about."""
    return {
        (recorded.event.org_id, recorded.event.job_id) for recorded in batch if isinstance(recorded.event, JobEvent)
    }


def begun(batch: Iterable[Recorded]) -> set[JobKey]:
    """Return the jobs whose first event is in a batch."""
    return {
        (recorded.event.org_id, recorded.event.job_id) for recorded in batch if isinstance(recorded.event, JobSubmitted)
    }


def sealed_jobs(batch: Iterable[Recorded]) -> set[JobKey]:
    """Return the jobs whose key is needed to fold a batch."""
    return {(recorded.event.org_id, recorded.event.job_id) for recorded in batch if is_sealed(recorded.event.private)}


def fold(current: Current, batch: Iterable[Recorded], opened: Open = in_clear) -> Changes:
    """Fold a batch, private bytes as `opened` shows them. Events that a row has already seen change nothing."""
    changes = Changes()
    events = tuple(batch)
    changes.usage, changes.transactions = fold_usage(current.usage, events)
    for recorded in events:
        header, event = recorded.header, recorded.event
        if not isinstance(event, JobEvent):
            if isinstance(event, ScheduleFired):
                changes.fires[(event.org_id, header.seq)] = evolve.fired(header, event)
            elif isinstance(event, EndpointDisabled):
                changes.disabled.append(recorded)
            continue
        if _deleted_before(current, changes, header, event):
            continue
        job = _job_before(current, changes, header, event, opened)
        if job is None:
            continue
        if isinstance(event, JobDeleted | JobExpired) and job.chain_id:
            changes.left.add((event.org_id, job.chain_id))
        if isinstance(event, JobDeleted):
            _erase(changes, evolve.deleted(job, header))
            continue
        if isinstance(event, JobExpired):
            changes.expired.add((event.org_id, event.job_id))
        evolve.progress(job, header, event, opened)
        changes.transitions.append(evolve.transition(job, header, event))
        if isinstance(event, NodeFinished):
            changes.visits.append(evolve.visit(header, event, opened))
        elif isinstance(event, ItemsRecorded):
            changes.chunks.append(chunk_row(job, header, event))
        elif isinstance(event, JobLogged):
            changes.lines.append(lines_row(header, event, opened))
        elif isinstance(event, StatsRecorded):
            changes.stats[(event.org_id, event.job_id)] = stats_row(header, event, opened)
        elif isinstance(event, DeliveryEvent):
            evolve.deliver(_delivery_before(current, changes, header, event), header, event, opened)
    return changes


def _job_before(current: Current, changes: Changes, header: Header, event: JobEvent, opened: Open) -> JobState | None:
    """Return the row this event is to be folded into, or None where that has been done."""
    key = (event.org_id, event.job_id)
    job = changes.jobs.get(key)
    if job is None:
        stored = current.jobs.get(key)
        if stored is not None:
            job = copy(stored)
        elif isinstance(event, JobSubmitted):
            job = evolve.submitted(header, event, opened)
        else:
            raise MissingJob(f"{header.event_type} {header.seq} of job {event.job_id}, which has no row")
    if not _follows(header, event, job.seq):
        return None
    changes.jobs[key] = job
    return job


def _follows(header: Header, event: JobEvent, seq: int) -> bool:
    """Whether an event is the next one of a row, not one that it has seen."""
    if header.seq > seq + 1:
        raise SkippedSeq(f"{header.event_type} {header.seq} of job {event.job_id}, whose row is at {seq}")
    return header.seq > seq


def _deleted_before(current: Current, changes: Changes, header: Header, event: JobEvent) -> bool:
    """Whether the job had been deleted; then the event is folded into what stayed of it."""
    key = (event.org_id, event.job_id)
    row = changes.deleted.get(key)
    if row is None:
        stored = current.deleted.get(key)
        if stored is None:
            return False
        row = copy(stored)
    if _follows(header, event, row.seq):
        evolve.late(row, header, event)
        changes.deleted[key] = row
    return True


def _erase(changes: Changes, row: Deleted) -> None:
    key = (row.org_id, row.job_id)
    changes.deleted[key] = row
    changes.erased.add(key)
    changes.jobs.pop(key, None)
    changes.stats.pop(key, None)
    changes.expired.discard(key)
    changes.transitions = [each for each in changes.transitions if (each.org_id, each.job_id) != key]
    changes.visits = [each for each in changes.visits if (each.org_id, each.job_id) != key]
    changes.lines = [each for each in changes.lines if (each.org_id, each.job_id) != key]
    changes.deliveries = {name: each for name, each in changes.deliveries.items() if name[:2] != key}


def _delivery_before(current: Current, changes: Changes, header: Header, event: DeliveryEvent) -> Delivery:
    key = (event.org_id, event.job_id, event.destination_id, event.generation)
    if key not in changes.deliveries:
        stored = current.deliveries.get(key)
        changes.deliveries[key] = copy(stored) if stored is not None else evolve.requested(header, event)
    return changes.deliveries[key]
