"""What the asker of a command is told, once its events are folded into the state."""

from collections.abc import Sequence
from typing import assert_never

from schemas.events import AnyEvent, ReportRefused, ScheduleFired
from schemas.values import FireKind
from services.ledger.commands import (
    AnnounceWorker,
    AnyCommand,
    CancelJob,
    ChangeOrgLimit,
    ChangePlan,
    ClaimTask,
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
from services.ledger.credits import QUOTA, pays_surcharges
from services.ledger.explain import explain
from services.ledger.queue_limits import known
from services.ledger.refusal import not_owner, own_job, refusal
from services.ledger.replies import Answer, Balance, Done, Drop, Granted, Refused
from services.ledger.retention import answer_expiry
from services.ledger.state import Ledger
from services.ledger.status import Status


def answer(ledger: Ledger, command: AnyCommand, events: Sequence[AnyEvent]) -> Answer:
    """Return the reply to a command that led to these events; a repeated command gets the same reply."""
    if isinstance(command, ReportProgress):
        return _answer_report(ledger, command, events)
    refused = refusal(ledger, command)
    if refused is not None:
        return refused
    match command:
        case ClaimTask():
            job = ledger.jobs[command.job_id]
            return Granted(attempt=job.attempt, resume=job.resume, asks_first=pays_surcharges(ledger, job))
        case ChangePlan() | GrantCredits() | SetCredits():
            account = ledger.orgs[command.org_id].account
            return Balance(plan=account.plan, metered=account.metered, credits=account.balance)
        case ExpireJob():
            return answer_expiry(ledger.jobs[command.job_id])
        case ExplainJob():
            return explain(ledger, ledger.jobs[command.job_id])
        case SubmitJobs():
            return _answer_submit(ledger, command, repeated=not events)
        case ResumeJob():
            key = known(ledger, ledger.orgs[command.org_id], command.idempotency_digest)
            return Done(job_ids=key.job_ids if key else (command.new.job_id,), repeated=not events)
        case FireSchedule():
            return _answer_fire(ledger, command, events)
        case AnnounceWorker():
            return Drop(job_ids=tuple(job_id for job_id in command.running if not _owns(ledger, command, job_id)))
        case (
            RegisterOrg()
            | ChangeOrgLimit()
            | PauseOrg()
            | ResumeOrg()
            | PauseWorkflow()
            | ResumeWorkflow()
            | CancelJob()
            | RetryNow()
            | DeleteJob()
            | SettleDeliveries()
            | RedeliverJob()
            | WaiveDelivery()
        ):
            return Done()
        case Probe():
            return Done()
        case _:
            assert_never(command)


def _answer_report(ledger: Ledger, report: ReportProgress, events: Sequence[AnyEvent]) -> Done | Refused:
    job = own_job(ledger, report)
    if job is None:
        return Refused(code="unknown_job")
    reason = next((event.reason for event in events if isinstance(event, ReportRefused)), "")
    if not reason and job.ending.failed and job.ending.failed.error_type == QUOTA:
        reason = QUOTA  # its worker waits for leave to make the next call
    if not reason and report.outcome is None and (taken := not_owner(job, report)) is not None:
        reason = taken.code  # so it may do when the job was taken from it since it asked first
    return Refused(code=reason) if reason else Done()


def _answer_submit(ledger: Ledger, command: SubmitJobs, *, repeated: bool) -> Done:
    key = known(ledger, ledger.orgs[command.org_id], command.idempotency_digest)
    ids = key.job_ids if key else tuple(job.job_id for job in command.jobs)
    return Done(job_ids=ids, repeated=repeated)


def _answer_fire(ledger: Ledger, command: FireSchedule, events: Sequence[AnyEvent]) -> Done:
    if command.how is FireKind.TRIGGER and command.submission:
        return _answer_submit(ledger, command.submission, repeated=not events)
    ids = next((event.job_ids for event in events if isinstance(event, ScheduleFired)), ())
    return Done(job_ids=ids, repeated=not events)


def _owns(ledger: Ledger, command: AnnounceWorker, job_id: str) -> bool:
    job = ledger.jobs.get(job_id)
    if job is None:
        return False
    return job.status is Status.RUNNING and job.boot_id == command.boot_id
