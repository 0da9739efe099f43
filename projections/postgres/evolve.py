"""What one event does to the rows of its job. Never refuses: events are facts. Changes the rows it is given."""

from typing import assert_never

import msgspec

from projections.postgres.item_rows import come_on
from projections.postgres.rows import Deleted, Delivery, Fire, Job, JobState, Transition, Visit, event_uuid, instant
from projections.private import Open, in_clear, text_of
from schemas.events import (
    DeliveryAcked,
    DeliveryDeadLettered,
    DeliveryEvent,
    DeliveryFailed,
    DeliveryRequested,
    DeliveryWaived,
    ItemsPlanned,
    ItemsRecorded,
    JobCancelled,
    JobClaimed,
    JobCompleted,
    JobContinued,
    JobDeleted,
    JobDispatched,
    JobEvent,
    JobExpired,
    JobExtracted,
    JobFailed,
    JobLogged,
    JobRecalled,
    JobReleased,
    JobSubmitted,
    NodeFinished,
    ReportRefused,
    RetryBroughtForward,
    RetryScheduled,
    ScheduleFired,
    StatsRecorded,
)
from schemas.recorded import Header
from schemas.storable import storable


def submitted(header: Header, event: JobSubmitted, opened: Open = in_clear) -> Job:
    """Begin the row of a job, just before its first event is folded into it."""
    private = opened(event)
    return Job(
        org_id=event.org_id,
        job_id=event.job_id,
        status="pending",
        seq=0,  # the caller moves it on to this event
        position=header.position,
        cause=header.cause,
        partition=header.partition,
        vocabulary=event.vocabulary.value,
        workflow_id=event.workflow_id,
        workflow_version=event.workflow_version,
        workflow_ref=event.workflow_ref,
        domain=event.domain,
        priority=event.priority,
        max_run_seconds=event.max_run_seconds,
        destinations=[msgspec.to_builtins(destination) for destination in event.destinations],
        schedule_id=event.schedule_id or None,
        correlation_id=header.correlation_id,
        submitted_at=instant(header.occurred_at),
        private=event.private,
        item_credits=event.item_credits,
        url=text_of(private, "url"),
        input=storable(private.get("input")),
        metadata=storable(private.get("metadata")),
    )


def progress(job: JobState, header: Header, event: JobEvent, opened: Open = in_clear) -> None:
    """Fold an event into the row of its job; events that change no status move its ordinals only."""
    job.seq, job.position, job.cause = header.seq, header.position, header.cause
    at = instant(header.occurred_at)
    match event:  # the most frequent first
        case NodeFinished() | JobSubmitted() | ReportRefused() | JobRecalled() | JobDeleted():
            pass
        case JobDispatched():
            job.dispatches = event.dispatch
        case JobClaimed():
            job.status, job.retry_at = "running", None
            job.attempt, job.worker_id, job.boot_id = event.attempt, event.worker_id, event.boot_id
            job.claimed_at = job.claimed_at or at
        case DeliveryRequested() | DeliveryAcked() | DeliveryFailed() | DeliveryDeadLettered() | DeliveryWaived():
            pass
        case RetryScheduled():
            job.status, job.worker_id, job.retry_at = "waiting_retry", None, instant(event.due_at)
        case RetryBroughtForward():
            job.retry_at = instant(event.due_at)
        case JobReleased():
            job.status, job.worker_id = "pending", None
        case JobExtracted():
            _extract(job, header, event)
        case JobCompleted():
            _finish(job, header, "completed")
            job.opened_by = [event_uuid(event_id) for event_id in event.opened_by]
        case JobFailed():
            _finish(job, header, "failed")
            job.error_type, job.rule, job.node_id = event.error_type, event.rule or None, event.node_id or None
            job.error_message = text_of(opened(event), "message")
            job.destination_id = event.destination_id or None
        case JobCancelled():
            _finish(job, header, "cancelled")
        case JobExpired():
            job.expired_at = at
        case ItemsPlanned() | ItemsRecorded() | JobLogged() | StatsRecorded() | JobContinued():
            come_on(job, event)
        case _:
            assert_never(event)


def deleted(job: JobState, header: Header) -> Deleted:
    """Make the row that stays of a job when it is deleted."""
    return Deleted(
        job.org_id,
        job.job_id,
        header.partition,
        job.status,
        header.seq,
        header.position,
        job.attempt,
        job.boot_id,
        0,
        instant(header.occurred_at),
    )


def late(row: Deleted, header: Header, event: JobEvent) -> None:
    """Fold an event that came after its job was deleted: it moves the ordinals, and nothing comes back."""
    row.seq, row.position = header.seq, header.position
    if isinstance(event, DeliveryRequested) and event.erase:
        row.erasures = max(row.erasures, event.generation)


def transition(job: JobState, header: Header, event: JobEvent) -> Transition:
    """Make the row that tells of an event and of the status after it."""
    return Transition(
        event.org_id,
        event.job_id,
        header.seq,
        event_uuid(header.event_id),
        header.event_type,
        job.status,
        event.attempt,
        instant(header.occurred_at),
        header.partition,
        header.position,
        header.actor,
    )


def visit(header: Header, event: NodeFinished, opened: Open = in_clear) -> Visit:
    """Make the row that tells of a visit of a node."""
    private = opened(event)
    return Visit(
        event.org_id,
        event.job_id,
        header.seq,
        event_uuid(header.event_id),
        header.partition,
        event.attempt,
        event.step,
        event.node_id,
        event.node_kind,
        event.provider,
        event.try_number,
        event.outcome.value,
        event.status_code,
        event.latency_ms,
        event.error_type or None,
        event.rule or None,
        event.edge or None,
        event.next_node_id or None,
        instant(event.started_at),
        instant(event.ended_at),
        text_of(private, "message"),
        text_of(private, "finalUrl"),
        event.body_ref or None,
        event.content_type or None,
        event.body_bytes,
    )


def fired(header: Header, event: ScheduleFired) -> Fire:
    """Make the row that tells of a fire of a schedule."""
    return Fire(
        event.org_id,
        header.seq,
        event.schedule_id,
        event_uuid(header.event_id),
        header.partition,
        header.position,
        instant(event.due_at),
        event.how.value,
        event.outcome.value,
        event.code or None,
        event.due_times,
        list(event.job_ids),
        instant(header.occurred_at),
        header.actor,
    )


def requested(header: Header, event: DeliveryEvent) -> Delivery:
    """Begin the row of a delivery, just before its first event is folded into it."""
    return Delivery(
        event.org_id,
        event.job_id,
        event.destination_id,
        event.generation,
        header.partition,
        kind="",
        status="requested",
        tries=0,
        requested_at=instant(header.occurred_at),
        seq=0,
        position=0,
    )


def deliver(delivery: Delivery, header: Header, event: DeliveryEvent, opened: Open = in_clear) -> None:
    """Fold an event into the row of its delivery."""
    delivery.seq, delivery.position = header.seq, header.position
    if delivery.status == "acked":
        return  # the destination holds it; nothing said later of that generation takes it back
    delivery.next_try_at = None
    match event:
        case DeliveryRequested():
            delivery.status, delivery.kind, delivery.tries = "requested", event.kind, event.try_number
            delivery.erase = event.erase
        case DeliveryAcked():
            delivery.status, delivery.rows, delivery.writer_id = "acked", event.rows, event.writer_id
            delivery.place = event.place or None
            delivery.acked_at, delivery.ack_seq = instant(header.occurred_at), header.seq
            delivery.ack_event_id = event_uuid(header.event_id)
        case DeliveryFailed():
            delivery.status, delivery.tries, delivery.error_type = "waiting", event.try_number, event.error_type
            delivery.error_message = text_of(opened(event), "message")
            delivery.next_try_at = instant(event.next_try_at) if event.next_try_at else None
        case DeliveryDeadLettered():
            delivery.status, delivery.tries, delivery.error_type = "dead_lettered", event.tries, event.error_type
        case DeliveryWaived():
            delivery.status = "waived"
            if delivery.waived_at is None:  # the first waiver is the one that opened the gate
                delivery.waived_at, delivery.waive_seq = instant(header.occurred_at), header.seq
                delivery.waive_event_id, delivery.waive_reason = event_uuid(header.event_id), event.reason
        case _:
            assert_never(event)


def _extract(job: JobState, header: Header, event: JobExtracted) -> None:
    job.status, job.worker_id, job.extracted_at = "extraction_done", None, instant(header.occurred_at)
    job.result_ref, job.content_type, job.result_bytes = event.result_ref, event.content_type, event.result_bytes
    job.extraction_ref = event.extraction_ref or None
    job.schema_id, job.data_type, job.items = event.schema_id or None, event.data_type or None, event.items
    job.quality_completeness = event.quality_completeness
    job.quality_validation = event.quality_validation
    job.quality_composite = event.quality_composite
    job.latency_ms = event.latency_ms


def _finish(job: JobState, header: Header, status: str) -> None:
    job.status, job.worker_id, job.retry_at = status, None, None
    job.finished_at, job.finished_seq = instant(header.occurred_at), header.seq
    job.ended_for = header.correlation_id
