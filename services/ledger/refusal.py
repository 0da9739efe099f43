"""Why a command has no effect in a state, in the codes that callers get."""

from collections.abc import Iterable
from typing import assert_never

from schemas.values import After, Destination, FireKind
from services.ledger.commands import (
    AnnounceWorker,
    AnyCommand,
    CancelJob,
    ChangeOrgLimit,
    ChangePlan,
    ClaimTask,
    Command,
    DeleteJob,
    ExpireJob,
    ExplainJob,
    FireSchedule,
    GrantCredits,
    PauseOrg,
    PauseWorkflow,
    Probe,
    RedeliverJob,
    RegisterOrg,
    ReportProgress,
    ResumeJob,
    ResumeOrg,
    ResumeWorkflow,
    RetryNow,
    SetCredits,
    SettleDeliveries,
    SubmitJobs,
    WaiveDelivery,
)
from services.ledger.continuing import not_resumable
from services.ledger.credits import bad_amount, cannot_pay
from services.ledger.decide_delivery import refused_about
from services.ledger.job import Job
from services.ledger.pausing import not_pausable
from services.ledger.queue_limits import known, queue_full
from services.ledger.replies import Refused
from services.ledger.retention import not_ended
from services.ledger.state import Ledger
from services.ledger.status import Status


def refusal(ledger: Ledger, command: AnyCommand) -> Refused | None:
    """Return why a command is refused, or None if it is accepted or already in effect.

    Reports and answers of writers are refused one by one, by `not_owner` and in `decide_delivery`.
    """
    match command:
        case RegisterOrg():
            if command.max_in_flight < 1:
                return Refused(code="bad_limit", message="maxInFlight: at least 1")
            return bad_amount(ledger, command)
        case ChangeOrgLimit():
            return _unknown_org(ledger, command.org_id) or _bad_limits(command)
        case PauseOrg() | ResumeOrg() | PauseWorkflow() | ResumeWorkflow():
            return _unknown_org(ledger, command.org_id) or not_pausable(ledger.orgs[command.org_id], command)
        case ChangePlan():
            return _unknown_org(ledger, command.org_id)
        case GrantCredits() | SetCredits():
            return _unknown_org(ledger, command.org_id) or _key_conflict(ledger, command) or bad_amount(ledger, command)
        case SubmitJobs():
            return (
                _unknown_org(ledger, command.org_id)
                or _key_conflict(ledger, command)
                or _gating_notice(command.destinations)
                or queue_full(ledger, ledger.orgs[command.org_id], command)
                or cannot_pay(ledger, command)
            )
        case ResumeJob():
            return (
                _unknown_org(ledger, command.org_id)
                or _key_conflict(ledger, command)
                or not_resumable(ledger, own_job(ledger, command), command)
            )
        case FireSchedule():
            return _unknown_org(ledger, command.org_id) or _not_fired(ledger, command)
        case CancelJob():
            return _not_cancellable(own_job(ledger, command), command)
        case RetryNow():
            return _not_waiting(own_job(ledger, command), command)
        case DeleteJob():
            return Refused(code="unknown_job") if own_job(ledger, command) is None else None
        case ExpireJob():
            return not_ended(own_job(ledger, command))
        case ClaimTask():
            return _not_claimable(own_job(ledger, command), command)
        case RedeliverJob() | WaiveDelivery():
            return refused_about(own_job(ledger, command), command)
        case ExplainJob():
            return _not_explicable(own_job(ledger, command))
        case ReportProgress() | SettleDeliveries() | AnnounceWorker() | Probe():
            return None
        case _:
            assert_never(command)


def own_job(ledger: Ledger, command: Command) -> Job | None:
    """Return the job that a command is about, or None where its org has no such job in memory."""
    job = ledger.jobs.get(command.job_id)
    return job if job is not None and job.org_id == command.org_id else None


def _unknown_org(ledger: Ledger, org_id: str) -> Refused | None:
    if org_id in ledger.orgs:
        return None
    return Refused(code="unknown_org", message="the org is not registered on this partition")


def _bad_limits(command: ChangeOrgLimit) -> Refused | None:
    if command.max_in_flight is not None and command.max_in_flight < 1:
        return Refused(code="bad_limit", message="maxInFlight: at least 1")
    if min(command.max_pending or 0, command.max_queue_seconds or 0, command.retention_seconds or 0) < 0:
        message = "maxPending, maxQueueSeconds and retentionSeconds: at least 0, which means the default"
        return Refused(code="bad_limit", message=message)
    return None


def _key_conflict(ledger: Ledger, command: SubmitJobs | ResumeJob | GrantCredits | SetCredits) -> Refused | None:
    key = known(ledger, ledger.orgs[command.org_id], command.idempotency_digest)
    if key is None or key.is_of(command.request_digest):
        return None
    return Refused(
        code="idempotency_conflict", message="this Idempotency-Key came with another body before; use a new key"
    )


def _not_fired(ledger: Ledger, command: FireSchedule) -> Refused | None:
    """A trigger is refused as its submission is; what a clock fires is recorded, and its refusal with it."""
    if command.how is FireKind.TRIGGER:
        return refusal(ledger, command.submission) if command.submission else None
    if command.due_at < ledger.occurred_at - ledger.policy.fire_lifetime:
        return Refused(code="too_late", message="this due time lies too far back to be made up for")
    return None


def _gating_notice(destinations: Iterable[Destination]) -> Refused | None:
    """A job that waited for the notice of its own end would never end."""
    if any(destination.gating and destination.after is not After.EXTRACTION for destination in destinations):
        return Refused(code="gating_notice", message="a notice of the end of a job cannot gate it")
    return None


def _not_cancellable(job: Job | None, command: CancelJob) -> Refused | None:
    if job is None or job.deleted:
        return Refused(code="unknown_job")
    if not job.terminal or (job.status is Status.CANCELLED and job.ending.correlation_id == command.correlation_id):
        return None
    return Refused(code="job_terminal", message=f"the job is {job.status}", status=str(job.status))


def _not_explicable(job: Job | None) -> Refused | None:
    return Refused(code="unknown_job") if job is None or job.deleted else None


def _not_waiting(job: Job | None, command: RetryNow) -> Refused | None:
    if job is None or job.deleted:
        return Refused(code="unknown_job")
    if job.status is not Status.WAITING_RETRY:
        return Refused(code="job_terminal" if job.terminal else "not_waiting", message=f"the job is {job.status}")
    if job.attempt != command.attempt:
        return Refused(code="not_waiting", message=f"it waits behind attempt {job.attempt}, not {command.attempt}")
    return None


def _not_claimable(job: Job | None, command: ClaimTask) -> Refused | None:
    if job is None:
        return Refused(code="unknown_job")
    if job.deleted:
        return Refused(code="job_deleted", message="the job was deleted")
    if job.terminal:
        return Refused(code="job_terminal", message=f"the job is {job.status}")
    if job.status is Status.RUNNING and job.boot_id == command.boot_id:
        return None
    if job.task_out and command.dispatch > job.run.spent:
        return None
    return Refused(code="not_dispatched", message="its task was claimed before, or it waits for its turn")


def not_owner(job: Job, report: ReportProgress) -> Refused | None:
    """Return why a report is refused, or None: only the newest claim of a running job may report."""
    if job.deleted:
        return Refused(code="job_deleted", message="the job was deleted")
    if job.attempt != report.attempt or job.boot_id != report.boot_id:
        return Refused(code="stale_attempt", message=f"attempt {job.attempt} is current")
    if job.terminal:
        return Refused(code="job_terminal", message=f"the job is {job.status}")
    if job.status is not Status.RUNNING:
        return Refused(code="not_claimed", message="the attempt has ended")
    return None
