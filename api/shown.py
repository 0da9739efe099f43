"""From rows of the read model to answers."""

from datetime import datetime
from typing import Any

from api import answers, history_answers
from api.times import iso, iso_or_none
from projections.postgres.rows import Job, Transition, Visit, instant
from projections.postgres.views import Gate, JobDetail, JobLine
from schemas.event import Event
from schemas.events import JobSubmitted
from schemas.plain import fields, identifier, plain, readable
from schemas.values import Vocabulary
from services.ledger.record import digest_of
from services.ledger.status import TERMINAL, error_type_of
from services.runtime.errors import LogGap
from services.runtime.ledger_log import Entry


def job(detail: JobDetail) -> answers.Job:
    """Show everything about a job."""
    row = detail.job
    transitions = list(changes([(entry.status, entry.occurred_at, entry.attempt) for entry in detail.transitions]))
    return answers.Job(
        job_id=row.job_id,
        status=row.status,
        org_id=row.org_id,
        workflow_id=row.workflow_id or None,
        version=row.workflow_version or None,
        domain=row.domain,
        url=row.url,
        input=without_variables(row.vocabulary, row.input),
        metadata=row.metadata,
        priority=row.priority,
        attempt=row.attempt,
        error_type=error_type_of(row.status, row.error_type),
        error_message=row.error_message,
        rule=row.rule,
        failed_node=row.node_id,
        schedule_id=row.schedule_id,
        created_at=iso(row.submitted_at),
        updated_at=iso(_last_change(row, detail.transitions)),
        completed_at=iso_or_none(row.finished_at),
        data_state=("expired" if row.expired_at else "kept") if row.finished_at else None,
        expired_at=iso_or_none(row.expired_at),
        transitions=transitions,
        execution_trace=[visit(entry) for entry in detail.trace],
        gate=gate(detail.gate),
        explain=None if row.status in TERMINAL else f"/api/v1/jobs/{row.job_id}/explain",
    )


def summary(row: JobLine) -> answers.JobSummary:
    """Show a job as a line of a list."""
    return answers.JobSummary(
        job_id=row.job_id,
        status=row.status,
        workflow_id=row.workflow_id or None,
        version=row.workflow_version or None,
        domain=row.domain,
        url=row.url,
        priority=row.priority,
        schedule_id=row.schedule_id,
        error_type=error_type_of(row.status, row.error_type),
        created_at=iso(row.submitted_at),
        completed_at=iso_or_none(row.finished_at),
        expired_at=iso_or_none(row.expired_at),
    )


def event(entry: Entry) -> history_answers.Event:
    """Show an event of the log; of a type that this version does not know, no more than where it stands."""
    recorded = entry.recorded
    if recorded is None:
        raise LogGap(f"position {entry.position} of partition {entry.partition}: an event of a newer version; upgrade")
    header, said = recorded.header, recorded.event
    shared = said.__struct_fields__[: len(Event.__struct_fields__)]
    return history_answers.Event(
        seq=header.seq,
        type=header.event_type,
        event_id=identifier(header.event_id),
        partition=header.partition,
        position=header.position,
        occurred_at=iso(instant(header.occurred_at)),
        actor=header.actor,
        attempt=said.attempt,
        correlation_id=header.correlation_id,
        traceparent=header.traceparent,
        hash=digest_of(entry.raw).hex(),
        prev_hash=header.prev_hash.hex(),
        data={name: plain(value) for name, value in fields(recorded) if name not in shared},
        private=_shown_private(said),
    )


def without_variables(vocabulary: str, given: Any) -> Any:
    """Return what a job was given; of a run of spiders its variables by their names, as their values may be secret."""
    if vocabulary == Vocabulary.SPIDER and isinstance(given, dict) and isinstance(given.get("env"), dict):
        return {**given, "env": sorted(given["env"])}
    return given


def _shown_private(said: Event) -> Any:
    private = readable(said.private)
    if isinstance(said, JobSubmitted) and isinstance(private, dict) and "input" in private:
        return {**private, "input": without_variables(said.vocabulary, private["input"])}
    return private


def changes(steps: list[tuple[str, datetime, int]]) -> list[answers.Transition]:
    """Keep of (status, time, attempt) per event those where the status became another."""
    kept: list[answers.Transition] = []
    for status, at, attempt in steps:
        if not kept or kept[-1].status != status:
            kept.append(answers.Transition(status=status, at=iso(at), attempt=attempt))
    return kept


def visit(row: Visit) -> answers.TraceEntry:
    """Show one visit of a node."""
    return answers.TraceEntry(
        step=row.step,
        node=row.node_id,
        kind=row.node_kind,
        provider=row.provider or None,
        attempt=row.try_number,
        outcome=row.outcome,
        status_code=row.status_code or None,
        latency_ms=row.latency_ms,
        error_type=row.error_type,
        error_message=row.message,
        rule=row.rule,
        edge=row.edge,
        next_node=row.next_node_id,
        started_at=iso(row.started_at),
        ended_at=iso(row.ended_at),
    )


def gate(row: Gate) -> answers.Gate:
    """Show what a job waits for."""
    return answers.Gate(
        expected=row.expected,
        acked=row.acked,
        waived=list(row.waived),
        pending=list(row.pending),
        opened_by=[str(event_id) for event_id in row.opened_by],
        opened_at=iso_or_none(row.opened_at),
    )


def _last_change(row: Job, transitions: list[Transition]) -> datetime:
    return transitions[-1].occurred_at if transitions else row.submitted_at
