"""What follows from a worker's report on the job it owns; a stale report is recorded as refused."""

from typing import assert_never

from schemas.events import AnyEvent, JobExtracted, JobFailed, NodeFinished, ReportRefused, RetryScheduled
from schemas.values import ReleaseReason
from services.ledger.commands import ReportProgress
from services.ledger.credits import purse_of, ran_out
from services.ledger.decide_items import is_new, item_events
from services.ledger.job import Job
from services.ledger.policy import MILLISECOND
from services.ledger.refusal import not_owner, own_job
from services.ledger.release import LOST, STOPPED, may_run_again, not_whole, release, stopped, was
from services.ledger.reports import Extracted, Failed, HandedBack, NodeReport, Outcome, RetryLater
from services.ledger.state import Ledger
from services.ledger.status import Status

OUT_OF_ORDER = "out_of_order"
SUCCEEDED = "succeeded"  # what a report claims that is refused


def decide_report(ledger: Ledger, report: ReportProgress, now: int) -> list[AnyEvent]:
    """Return the events of a report: its new nodes, then how the attempt ended."""
    job = own_job(ledger, report)
    if job is None or _in_effect(job, report):
        return []
    refused = not_owner(job, report)
    if refused is not None:
        return [_refused(job, report, refused.code)]
    new = [node for node in report.nodes if node.step >= job.resume.step]
    events: list[AnyEvent] = []
    purse = purse_of(ledger, job)
    for node in new:
        surcharge = purse.pay(node)
        events.append(_node(job, node, now, surcharge or 0))
        if surcharge is None:
            return [*events, ran_out(job, node)]
    recorded = item_events(job, report.items, purse)
    if recorded is None:  # an earlier report of this claim got lost: the next one goes on behind what is recorded
        then = release(ledger, job, ReleaseReason.HANDED_BACK) if may_run_again(job, report.items) else not_whole(job)
        return [*events, _refused(job, report, OUT_OF_ORDER), then]
    events += recorded
    if recorded and isinstance(recorded[-1], JobFailed):
        return events
    match report.outcome:
        case None:
            pass
        case RetryLater() | HandedBack() if not may_run_again(job, report.items):
            events.append(stopped(job))
        case outcome:
            events.append(_outcome(ledger, job, outcome, now))
    return events


def _in_effect(job: Job, report: ReportProgress) -> bool:
    """Whether the whole report was recorded before: it came twice."""
    if job.deleted or job.expired:
        return False  # its worker may have done the work twice too, and left bodies behind
    same_claim = job.attempt == report.attempt and job.boot_id == report.boot_id
    if not same_claim or any(node.step >= job.resume.step for node in report.nodes):
        return False
    if any(is_new(job.items, part) for part in report.items):
        return False
    match report.outcome:
        case None:
            return job.status is Status.RUNNING or bool(report.nodes or report.items)
        case Extracted():
            return job.extracted is not None
        case Failed():
            if job.status is not Status.FAILED or job.parting:  # failed without it, it says its last word now
                return False
            return not was(job, LOST)  # lost, it tells now what became of it
        case RetryLater():
            return job.status is Status.WAITING_RETRY or was(job, STOPPED)
        case HandedBack():
            return job.status is Status.PENDING or was(job, STOPPED)
        case _:
            assert_never(report.outcome)


def _node(job: Job, node: NodeReport, now: int, surcharge: int) -> NodeFinished:
    return NodeFinished(
        org_id=job.org_id,
        job_id=job.job_id,
        attempt=job.attempt,
        private=node.private,
        step=node.step,
        node_id=node.node_id,
        node_kind=node.node_kind,
        provider=node.provider,
        try_number=node.try_number,
        outcome=node.outcome,
        status_code=node.status_code,
        error_type=node.error_type,
        rule=node.rule,
        edge=node.edge,
        next_node_id=node.next_node_id,
        latency_ms=max(0, node.latency_ms),
        started_at=min(now, max(job.claimed_at, now - node.latency_ms * MILLISECOND)),
        ended_at=now,
        body_ref=node.body_ref,
        content_type=node.content_type,
        body_bytes=node.body_bytes,
        surcharge=surcharge,
    )


def _outcome(ledger: Ledger, job: Job, outcome: Outcome, now: int) -> AnyEvent:
    org_id, job_id, attempt = job.org_id, job.job_id, job.attempt
    match outcome:
        case Extracted():
            return JobExtracted(
                org_id=org_id,
                job_id=job_id,
                attempt=attempt,
                result_ref=outcome.result_ref,
                content_type=outcome.content_type,
                result_bytes=outcome.result_bytes,
                extraction_ref=outcome.extraction_ref,
                schema_id=outcome.schema_id,
                data_type=outcome.data_type,
                items=outcome.items,
                quality_completeness=outcome.quality_completeness,
                quality_validation=outcome.quality_validation,
                quality_composite=outcome.quality_composite,
                latency_ms=max(0, now - job.run.first_claimed_at) // MILLISECOND,
            )
        case Failed():
            return JobFailed(
                org_id=org_id,
                job_id=job_id,
                attempt=attempt,
                private=outcome.private,
                error_type=outcome.error_type,
                rule=outcome.rule,
                node_id=outcome.node_id,
            )
        case RetryLater():
            return RetryScheduled(
                org_id=org_id,
                job_id=job_id,
                attempt=attempt,
                node_id=outcome.node_id,
                try_number=outcome.try_number,
                due_at=now + max(0, outcome.delay_ms) * MILLISECOND,
                error_type=outcome.error_type,
            )
        case HandedBack():
            return release(ledger, job, ReleaseReason.HANDED_BACK)
        case _:
            assert_never(outcome)


def _reported(outcome: Outcome | None) -> str:
    match outcome:
        case None:
            return "nodes"
        case Extracted():
            return "extracted"
        case Failed():
            return "failed"
        case RetryLater():
            return "retry"
        case HandedBack():
            return "release"
        case _:
            assert_never(outcome)


def _refused(job: Job, report: ReportProgress, reason: str) -> ReportRefused:
    return ReportRefused(
        org_id=job.org_id,
        job_id=job.job_id,
        attempt=job.attempt,
        report=_reported(report.outcome),
        claimed_attempt=report.attempt,
        worker_id=report.worker_id,
        boot_id=report.boot_id,
        reason=reason,
        outcome=_claimed(report.outcome),
        items=report.outcome.items if isinstance(report.outcome, Extracted) else 0,
    )


def _claimed(outcome: Outcome | None) -> str:
    match outcome:
        case Extracted():
            return SUCCEEDED
        case Failed():
            return outcome.error_type
        case _:
            return ""
