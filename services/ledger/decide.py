"""The rules: which events follow from a command. Already in effect, or refused: none."""

from functools import partial
from typing import assert_never

from schemas.events import (
    AnyEvent,
    JobCancelled,
    JobClaimed,
    JobDeleted,
    JobSubmitted,
    OrgLimitChanged,
    OrgRegistered,
    RetryBroughtForward,
    WorkerAlive,
    WorkerLost,
)
from schemas.values import ReleaseReason
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
    Pinned,
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
from services.ledger.continuing import resume
from services.ledger.credits import change_plan, grant, job_price, set_aside
from services.ledger.decide_delivery import decide_deliveries, redeliver, waive
from services.ledger.decide_report import decide_report
from services.ledger.erasure import erasures
from services.ledger.job import Job
from services.ledger.pausing import decide_pause
from services.ledger.plans import on_plan, plan_named
from services.ledger.queue_limits import expired, known, queue_expired, queue_seconds
from services.ledger.refusal import refusal
from services.ledger.release import release
from services.ledger.retention import expire
from services.ledger.schedules import fire
from services.ledger.setting import SettingCommand, SettingEvent, once
from services.ledger.state import Ledger, Org
from services.ledger.status import Status

LIMITS = ("max_in_flight", "max_pending", "max_queue_seconds", "retention_seconds")


def decide(ledger: Ledger, command: AnyCommand, now: int) -> list[AnyEvent]:
    """Return the events that a command leads to in this state, at this time (microseconds UTC)."""
    match command:
        case ReportProgress():
            return decide_report(ledger, command, now)
        case SettleDeliveries():
            return decide_deliveries(ledger, command, now)
        case AnnounceWorker():
            return _announce(ledger, command, now)
        case Probe() | ExplainJob():
            return []
    if refusal(ledger, command) is not None:
        return []
    match command:
        case RegisterOrg():
            return _register(ledger, command)
        case ChangeOrgLimit() | ChangePlan() | PauseOrg() | ResumeOrg() | PauseWorkflow() | ResumeWorkflow():
            return once(ledger, command, _set(ledger, command))
        case GrantCredits() | SetCredits():
            return grant(ledger, command)
        case SubmitJobs():
            return _submit(ledger, command, now)
        case ResumeJob():
            return resume(ledger, ledger.jobs[command.job_id], command)
        case FireSchedule():
            fires = ledger.orgs[command.org_id].fires
            return fire(command, fires, partial(refusal, ledger), partial(_submit, ledger, now=now))
        case CancelJob():
            return _cancel(ledger.jobs[command.job_id], command)
        case RetryNow():
            return _hurry(ledger.jobs[command.job_id], now)
        case DeleteJob():
            return _delete(ledger.jobs[command.job_id], command)
        case ExpireJob():
            return expire(ledger, ledger.jobs[command.job_id], now)
        case ClaimTask():
            return _claim(ledger, command, now)
        case RedeliverJob():
            return redeliver(ledger.jobs[command.job_id], command)
        case WaiveDelivery():
            return waive(ledger.jobs[command.job_id], command)
        case _:
            assert_never(command)


def _register(ledger: Ledger, command: RegisterOrg) -> list[AnyEvent]:
    if command.org_id in ledger.orgs:
        return []
    return [
        OrgRegistered(
            org_id=command.org_id,
            name=command.name,
            plan=command.plan,
            max_in_flight=command.max_in_flight,
            metered=command.credits is not None or plan_named(ledger.policy.prices.plans, command.plan).metered,
            credits=command.credits or 0,
        )
    ]


def _set(ledger: Ledger, command: SettingCommand) -> SettingEvent:
    match command:
        case ChangeOrgLimit():
            return _limit(ledger.orgs[command.org_id], command)
        case ChangePlan():
            return change_plan(ledger, command)
        case _:
            return decide_pause(ledger.orgs[command.org_id], command)


def _limit(org: Org, command: ChangeOrgLimit) -> OrgLimitChanged:
    asked = {name: getattr(command, name) for name in LIMITS}
    before = {name: getattr(org, name) for name in LIMITS}
    after = before | {name: new for name, new in asked.items() if new is not None}
    return OrgLimitChanged(org_id=command.org_id, **after)


def _submit(ledger: Ledger, command: SubmitJobs, now: int) -> list[AnyEvent]:
    org = ledger.orgs[command.org_id]
    if known(ledger, org, command.idempotency_digest):
        return []
    new = [job for job in command.jobs if job.job_id not in ledger.jobs]
    seconds, price = queue_seconds(ledger, org, command.max_queue_seconds), job_price(ledger, org, command.vocabulary)
    destinations = on_plan(plan_named(ledger.policy.prices.plans, org.account.plan), command.destinations)
    shared = Pinned(workflow_id=command.workflow_id, version=command.workflow_version, ref=command.workflow_ref)
    submitted: list[AnyEvent] = [
        JobSubmitted(
            org_id=command.org_id,
            job_id=job.job_id,
            private=job.private,
            vocabulary=command.vocabulary,
            workflow_id=(job.pinned or shared).workflow_id,
            workflow_version=(job.pinned or shared).version,
            workflow_ref=(job.pinned or shared).ref,
            domain=job.domain,
            priority=command.priority,
            max_run_seconds=command.max_run_seconds,
            destinations=destinations,
            idempotency_digest=command.idempotency_digest,
            request_digest=command.request_digest,
            schedule_id=command.schedule_id,
            max_queue_seconds=seconds,
            credits=price,
            item_credits=command.item_credits if org.account.metered else 0,
        )
        for job in new
    ]
    return [*set_aside(ledger, command, price, len(new), now), *submitted]


def _cancel(job: Job, command: CancelJob) -> list[AnyEvent]:
    if job.terminal:
        return []
    return [JobCancelled(org_id=job.org_id, job_id=job.job_id, attempt=job.attempt, reason=command.reason)]


def _hurry(job: Job, now: int) -> list[AnyEvent]:
    if job.task_out or job.run.retry_due_at <= now:
        return []
    return [
        RetryBroughtForward(
            org_id=job.org_id, job_id=job.job_id, attempt=job.attempt, node_id=job.resume.node_id, due_at=now
        )
    ]


def _delete(job: Job, command: DeleteJob) -> list[AnyEvent]:
    if job.deleted:
        return []
    deleted = JobDeleted(org_id=job.org_id, job_id=job.job_id, attempt=job.attempt, reason=command.reason)
    if job.terminal:
        return [deleted]
    cancelled = JobCancelled(org_id=job.org_id, job_id=job.job_id, attempt=job.attempt, reason="deleted")
    return [cancelled, deleted]


def _claim(ledger: Ledger, command: ClaimTask, now: int) -> list[AnyEvent]:
    job = ledger.jobs[command.job_id]
    if job.status is Status.RUNNING:
        return []
    if expired(job, now):  # its timer is about to fire: the claim has lost
        return [queue_expired(job)]
    claimed = JobClaimed(
        org_id=job.org_id,
        job_id=job.job_id,
        attempt=job.attempt + 1,
        worker_id=command.worker_id,
        boot_id=command.boot_id,
    )
    if command.boot_id in ledger.workers:
        return [claimed]
    first_sign = WorkerAlive(
        worker_id=command.worker_id, boot_id=command.boot_id, kind=job.vocabulary, slots=1, free_slots=0
    )
    return [first_sign, claimed]


def _announce(ledger: Ledger, command: AnnounceWorker, now: int) -> list[AnyEvent]:
    worker = ledger.workers.get(command.boot_id)
    if command.stopping:
        return lose_worker(ledger, command.boot_id, stopped=True)
    if worker is not None and worker.slots == command.slots and now - worker.seen_at < ledger.policy.heartbeat // 4:
        return []
    return [
        WorkerAlive(
            worker_id=command.worker_id,
            boot_id=command.boot_id,
            kind=command.kind,
            slots=command.slots,
            free_slots=command.free_slots,
        )
    ]


def lose_worker(ledger: Ledger, boot_id: str, *, stopped: bool) -> list[AnyEvent]:
    """Return what follows when a run of a worker ends: every job it owned is released, or failed if lost too often.

    Of deleted jobs that it may have been at, it may have left bodies behind since they were erased.
    """
    worker = ledger.workers.get(boot_id)
    if worker is None:
        return []
    reason = ReleaseReason.HANDED_BACK if stopped else ReleaseReason.LEASE_EXPIRED
    released = [release(ledger, ledger.jobs[job_id], reason) for job_id in sorted(worker.jobs)]
    lost = WorkerLost(worker_id=worker.worker_id, boot_id=boot_id, stopped=stopped)
    left = [job for job_id in sorted(worker.parting) if (job := ledger.jobs.get(job_id)) and job.deleted]
    return [*released, lost, *(erasure for job in left for erasure in erasures(job))]
