"""The rows that a job's events ask for, told straight from the list of its events.

It answers, column by column, "which event says this?", where the projection folds event after event: two ways that
have to meet. Times are microseconds, as in the events.
"""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import msgspec

from projections.private import Open, in_clear
from projections.verification.expected_items import progress_columns
from projections.verification.kept import Columns as Columns
from projections.verification.kept import Rows as Rows
from projections.verification.kept import exact_json as exact_json
from projections.verification.kept import key_columns, last
from projections.verification.kept import read_json as read_json
from schemas.events import (
    AnyEvent,
    DeliveryAcked,
    DeliveryDeadLettered,
    DeliveryFailed,
    DeliveryRequested,
    DeliveryWaived,
    JobCancelled,
    JobClaimed,
    JobCompleted,
    JobDeleted,
    JobDispatched,
    JobExpired,
    JobExtracted,
    JobFailed,
    JobReleased,
    JobSubmitted,
    NodeFinished,
    RetryBroughtForward,
    RetryScheduled,
)
from schemas.recorded import Recorded
from schemas.storable import storable, storable_text

STATUS_AFTER: dict[type[AnyEvent], str] = {
    JobSubmitted: "pending",
    JobClaimed: "running",
    RetryScheduled: "waiting_retry",
    JobReleased: "pending",
    JobExtracted: "extraction_done",
    JobCompleted: "completed",
    JobFailed: "failed",
    JobCancelled: "cancelled",
}
TERMINAL = (JobCompleted, JobFailed, JobCancelled)
TRY = (DeliveryRequested, DeliveryFailed, DeliveryDeadLettered)
DELIVERY_STATUS: dict[type[AnyEvent], str] = {
    DeliveryRequested: "requested",
    DeliveryAcked: "acked",
    DeliveryFailed: "waiting",
    DeliveryDeadLettered: "dead_lettered",
    DeliveryWaived: "waived",
}
LAST_MICROS = 253_402_300_799_999_999  # the last one of the year 9999: what lies behind it is stored as this


def is_deleted(events: Sequence[Recorded]) -> bool:
    """Whether a job was deleted, so that one row alone stays of it."""
    return any(isinstance(each.event, JobDeleted) for each in events)


def is_gone(events: Sequence[Recorded]) -> bool:
    """Whether nothing of a job is left in destinations and the blob store: it was deleted, or its results expired."""
    return is_deleted(events) or any(isinstance(each.event, JobExpired) for each in events)


def deleted_rows(events: Sequence[Recorded]) -> Rows:
    """Return the row of `deleted_jobs`, of a job that was deleted."""
    deletion = next((each for each in events if isinstance(each.event, JobDeleted)), None)
    if deletion is None:
        return {}
    status = next(STATUS_AFTER[type(each.event)] for each in reversed(events) if type(each.event) in STATUS_AFTER)
    claim = last(events, JobClaimed)
    later = (each.event for each in events if each.header.seq > deletion.header.seq)
    asked = [event.generation for event in later if isinstance(event, DeliveryRequested) and event.erase]
    row = {
        "org_id": deletion.event.org_id,
        "job_id": deletion.event.job_id,
        "partition": deletion.header.partition,
        "status": status,
        "seq": events[-1].header.seq,
        "position": events[-1].header.position,
        "attempt": claim.attempt if claim else 0,
        "boot_id": claim.boot_id if claim else None,
        "erasures": max(asked, default=0),
        "deleted_at": deletion.header.occurred_at,
    }
    return {(): _stored(row)}


def job_row(events: Sequence[Recorded], opened: Open = in_clear) -> Columns:
    """Return the row of `jobs`, private bytes as `opened` shows them."""
    header, first = events[0].header, events[0].event
    assert isinstance(first, JobSubmitted)
    status = next(STATUS_AFTER[type(each.event)] for each in reversed(events) if type(each.event) in STATUS_AFTER)
    claim, extracted, failed = last(events, JobClaimed), last(events, JobExtracted), last(events, JobFailed)
    ended = next((each for each in events if isinstance(each.event, TERMINAL)), None)
    completed, retry = last(events, JobCompleted), _last_wait(events)
    claims = [each.header.occurred_at for each in events if isinstance(each.event, JobClaimed)]
    extractions = [each.header.occurred_at for each in events if isinstance(each.event, JobExtracted)]
    dispatched = last(events, JobDispatched)
    private = opened(first)
    end = events[-1].header
    row: Columns = {name: getattr(first, name) for name in ("org_id", "job_id", "workflow_id", "workflow_version")}
    row |= {name: getattr(first, name) for name in ("workflow_ref", "domain", "priority", "max_run_seconds", "private")}
    row["item_credits"] = first.item_credits
    row |= {
        "partition": header.partition,
        "status": status,
        "seq": end.seq,
        "position": end.position,
        "cause": end.cause,
        "vocabulary": str(first.vocabulary),
        "destinations": exact_json(msgspec.to_builtins(first.destinations)),
        "schedule_id": first.schedule_id or None,
        "correlation_id": header.correlation_id,
        "url": _text(private, "url"),
        "input": exact_json(storable(private.get("input"))),
        "metadata": exact_json(storable(private.get("metadata"))),
        "attempt": claim.attempt if claim else 0,
        "dispatches": dispatched.dispatch if dispatched else 0,
        "worker_id": claim.worker_id if claim and status == "running" else None,
        "boot_id": claim.boot_id if claim else None,
        "ended_for": ended.header.correlation_id if ended else None,
        "retry_at": _at(retry.due_at) if retry and status == "waiting_retry" else None,
        "submitted_at": header.occurred_at,
        "claimed_at": claims[0] if claims else None,
        "extracted_at": extractions[-1] if extractions else None,
        "finished_at": ended.header.occurred_at if ended else None,
        "finished_seq": ended.header.seq if ended else None,
        "error_type": failed.error_type if failed else None,
        "rule": (failed.rule or None) if failed else None,
        "node_id": (failed.node_id or None) if failed else None,
        "error_message": _text(opened(failed), "message") if failed else None,
        "destination_id": (failed.destination_id or None) if failed else None,
        "opened_by": [UUID(bytes=event_id) for event_id in completed.opened_by] if completed else None,
        "expired_at": next((each.header.occurred_at for each in events if isinstance(each.event, JobExpired)), None),
    }
    row |= progress_columns(events)
    for name in ("result_ref", "content_type", "result_bytes", "items", "latency_ms"):
        row[name] = getattr(extracted, name) if extracted else None
    for name in ("quality_completeness", "quality_validation", "quality_composite"):
        row[name] = getattr(extracted, name) if extracted else None
    for name in ("extraction_ref", "schema_id", "data_type"):
        row[name] = (getattr(extracted, name) or None) if extracted else None
    return _stored(row)


def transition_rows(events: Sequence[Recorded]) -> Rows:
    """Return the rows of `job_transitions` by seq."""
    rows: Rows = {}
    status = ""
    for recorded in events:
        header = recorded.header
        status = STATUS_AFTER.get(type(recorded.event), status)
        rows[(header.seq,)] = _stored(
            key_columns(recorded)
            | {
                "event_type": header.event_type,
                "status": status,
                "occurred_at": header.occurred_at,
                "position": header.position,
                "actor": header.actor,
            }
        )
    return rows


def trace_rows(events: Sequence[Recorded], opened: Open = in_clear) -> Rows:
    """Return the rows of `job_trace` by seq."""
    rows: Rows = {}
    for recorded in events:
        event = recorded.event
        if isinstance(event, NodeFinished):
            row = key_columns(recorded)
            for name in ("step", "node_id", "node_kind", "provider", "try_number", "status_code", "latency_ms"):
                row[name] = getattr(event, name)
            for name in ("error_type", "rule", "edge", "next_node_id", "body_ref", "content_type"):
                row[name] = getattr(event, name) or None
            row |= {"outcome": str(event.outcome), "body_bytes": event.body_bytes}
            row |= {"started_at": _at(event.started_at), "ended_at": _at(event.ended_at)}
            private = opened(event)
            row |= {"message": _text(private, "message"), "final_url": _text(private, "finalUrl")}
            rows[(recorded.header.seq,)] = _stored(row)
    return rows


def delivery_rows(events: Sequence[Recorded], opened: Open = in_clear) -> Rows:
    """Return the rows of `extraction_deliveries` by destination and generation."""
    groups: dict[tuple[Any, ...], list[Recorded]] = {}
    for recorded in events:
        event = recorded.event
        if isinstance(event, (*TRY, DeliveryAcked, DeliveryWaived)):
            groups.setdefault((event.destination_id, event.generation), []).append(recorded)
    return {key: _stored(_delivery_row(group, opened)) for key, group in groups.items()}


def _delivery_row(events: Sequence[Recorded], opened: Open) -> Columns:
    """Tell one generation of a delivery; what comes after its first ACK only moves seq and position."""
    ack = next((each for each in events if isinstance(each.event, DeliveryAcked)), None)
    said = events[: events.index(ack) + 1] if ack else events
    asked, failed = last(said, DeliveryRequested), last(said, DeliveryFailed)
    tried = [each.event for each in said if isinstance(each.event, TRY)]
    errors = [event for event in tried if not isinstance(event, DeliveryRequested)]
    newest, acked = said[-1].event, last(said, DeliveryAcked)
    waivers = [(each.header, each.event.reason) for each in said if isinstance(each.event, DeliveryWaived)]
    waiver, reason = waivers[0] if waivers else (None, None)
    waits = newest.next_try_at if isinstance(newest, DeliveryFailed) else 0
    return {
        "org_id": newest.org_id,
        "job_id": newest.job_id,
        "partition": events[0].header.partition,
        "kind": asked.kind if asked else "",
        "status": DELIVERY_STATUS[type(newest)],
        "tries": _tries(tried[-1]) if tried else 0,
        "requested_at": events[0].header.occurred_at,
        "seq": events[-1].header.seq,
        "position": events[-1].header.position,
        "acked_at": ack.header.occurred_at if ack else None,
        "ack_event_id": UUID(bytes=ack.header.event_id) if ack else None,
        "ack_seq": ack.header.seq if ack else None,
        "rows": acked.rows if acked else None,
        "writer_id": acked.writer_id if acked else None,
        "place": (acked.place if acked else "") or None,
        "error_type": errors[-1].error_type if errors else None,
        "error_message": _text(opened(failed), "message") if failed else None,
        "next_try_at": _at(waits) if waits else None,
        "waived_at": waiver.occurred_at if waiver else None,
        "waive_event_id": UUID(bytes=waiver.event_id) if waiver else None,
        "waive_seq": waiver.seq if waiver else None,
        "waive_reason": reason,
        "erase": bool(asked and asked.erase),
    }


def _tries(event: DeliveryRequested | DeliveryFailed | DeliveryDeadLettered) -> int:
    return event.tries if isinstance(event, DeliveryDeadLettered) else event.try_number


def _last_wait(events: Sequence[Recorded]) -> RetryScheduled | RetryBroughtForward | None:
    """Return what says last when a retry is due."""
    waits = (each.event for each in reversed(events) if isinstance(each.event, RetryScheduled | RetryBroughtForward))
    return next(waits, None)


def _at(micros: int) -> int:
    return min(micros, LAST_MICROS)


def _text(private: Mapping[str, Any], name: str) -> str | None:
    value = private.get(name)
    return value if isinstance(value, str) and value else None


def _stored(row: Columns) -> Columns:
    """Return a row with its texts as Postgres holds them."""
    return {name: storable_text(value) if isinstance(value, str) else value for name, value in row.items()}
