"""The rows that the events of items, lines and statistics ask for, told straight from the list of a job's events."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from projections.postgres.rows import JobKey
from projections.private import Open, in_clear
from projections.verification.kept import Columns, Rows, exact_json, key_columns, last
from schemas.events import JobDeleted, JobExpired, JobSubmitted
from schemas.item_events import ItemEvent, ItemsPlanned, ItemsRecorded, JobContinued, JobLogged, StatsRecorded
from schemas.recorded import Recorded
from schemas.storable import storable
from schemas.values import Vocabulary

COUNTED = ("rows_bytes", "outcomes_bytes", "stats_bytes")
OF_CHUNK = (
    "chunk",
    "items_ref",
    *COUNTED,
    "digest",
    "first_item",
    "next_item",
    "first_row",
    "rows",
    "errors",
    "resume_item",
    "errors_before",
)


def chunks_of(events: Sequence[Recorded]) -> list[ItemsRecorded]:
    """Return the chunks that a job recorded, in their order."""
    return [each.event for each in events if isinstance(each.event, ItemsRecorded)]


def of_spider(events: Sequence[Recorded]) -> bool:
    """Whether a job is one of a spider."""
    first = events[0].event
    return isinstance(first, JobSubmitted) and first.vocabulary is Vocabulary.SPIDER


def chain_id(events: Sequence[Recorded]) -> str | None:
    """Return the first job of a job's chain; None: nothing of its items is recorded."""
    went_on = last(events, JobContinued)
    some = any(isinstance(each.event, ItemEvent) for each in events)
    return went_on.chain_id if went_on else events[0].event.job_id if some else None


def progress_columns(events: Sequence[Recorded]) -> Columns:
    """Return what the row of a job says of its planned items."""
    chain, began = chain_id(events), last(events, JobContinued) or JobContinued(link=1)
    if chain is None:
        return {"progress": None, "chain_id": None}
    chunks, planned = chunks_of(events), last(events, ItemsPlanned)
    logged, newest = last(events, JobLogged), chunks[-1] if chunks else None
    counted = [each.event for each in events if isinstance(each.event, StatsRecorded)]
    count = counted[-1] if counted else StatsRecorded(number=-1)
    digest = began.digest
    for chunk in chunks:
        digest = hashlib.blake2b(digest + chunk.digest, digest_size=16).digest()
    progress = {
        "chain_id": chain,
        "source_job_id": began.source_job_id,
        "link": began.link,
        "adopts": msgspec.to_builtins(began.adopts),
        "begins_at": began.next_item,
        "plan_ref": planned.plan_ref if planned else began.plan_ref,
        "planned": planned.planned if planned else began.planned,
        "chunks": len(chunks),
        "next_item": newest.next_item if newest else began.next_item,
        "rows": began.rows + sum(chunk.rows for chunk in chunks),
        "errors": began.errors + sum(chunk.errors for chunk in chunks),
        "result_bytes": began.result_bytes + sum(getattr(chunk, name) for chunk in chunks for name in COUNTED),
        "resume_item": newest.resume_item if newest else began.next_item,
        "errors_before": newest.errors_before if newest else began.errors,
        "logged": logged.number + 1 if logged else 0,
        "stats": count.number + 1,
        "scraped": count.scraped,
        "routed": count.routed,
        "cost": sum(each.surcharge for each in chunks) + sum(each.surcharge for each in counted),
        "newest_ref": newest.items_ref if newest else began.newest_ref,
        "newest_stats_bytes": newest.stats_bytes if newest else began.newest_stats_bytes,
        "digest": msgspec.to_builtins(digest),
    }
    return {"progress": exact_json(progress), "chain_id": chain}


def lines_rows(events: Sequence[Recorded], opened: Open = in_clear) -> Rows:
    """Return the rows of `job_logs` by seq; those of a spider go when its items do."""
    if _purged(events):
        return {}
    return {
        (each.header.seq,): key_columns(each)
        | {
            "number": each.event.number,
            "position": each.header.position,
            "occurred_at": each.header.occurred_at,
            "lines": exact_json(storable(opened(each.event).get("lines", []))),
            "lines_ref": each.event.lines_ref or None,
            "lines_bytes": each.event.lines_bytes,
            "levels": list(each.event.levels),
        }
        for each in events
        if isinstance(each.event, JobLogged)
    }


def stats_rows(events: Sequence[Recorded], opened: Open = in_clear) -> Rows:
    """Return the row of `job_stats`, of the newest statistics; that of a spider goes when its items do."""
    newest = next((each for each in reversed(events) if isinstance(each.event, StatsRecorded)), None)
    if newest is None or _purged(events):
        return {}
    assert isinstance(newest.event, StatsRecorded)
    row = key_columns(newest) | {
        "seq": newest.header.seq,
        "position": newest.header.position,
        "occurred_at": newest.header.occurred_at,
        "stats": exact_json(storable(opened(newest.event))),
    }
    return {(): row | {name: getattr(newest.event, name) for name in ("number", "scraped", "final", "routed")}}


def _purged(events: Sequence[Recorded]) -> bool:
    """Whether a spider's results have expired, and what it said and counted with them."""
    return of_spider(events) and last(events, JobExpired) is not None


def chunk_rows(jobs: Mapping[JobKey, Sequence[Recorded]]) -> dict[JobKey, Rows]:
    """Return the rows of `item_chunks` of every job: those of a chain that has a job with results."""
    chains = {key: (key[0], chain_id(events)) for key, events in jobs.items()}
    kept = {chains[key] for key, events in jobs.items() if not _gone(events)}
    return {key: _rows(events, chains[key][1]) if chains[key] in kept else {} for key, events in jobs.items()}


def _gone(events: Sequence[Recorded]) -> bool:
    return any(isinstance(each.event, JobDeleted | JobExpired) for each in events)


def _rows(events: Sequence[Recorded], chain: str | None) -> Rows:
    rows: dict[tuple[Any, ...], Columns] = {}
    for each in events:
        if isinstance(each.event, ItemsRecorded):
            row = key_columns(each) | {"position": each.header.position, "occurred_at": each.header.occurred_at}
            row |= {"seq": each.header.seq, "chain_id": chain}
            rows[(each.event.chunk,)] = row | {name: getattr(each.event, name) for name in OF_CHUNK}
    return rows
