"""Folds one event into the state of a partition, in place. Never refuses: events are facts."""

from typing import cast, get_args

from schemas.credit_events import CreditsGranted, CreditsHeld, CreditsReleased, OrgPlanChanged
from schemas.events import (
    EndpointDisabled,
    ItemsPlanned,
    ItemsRecorded,
    JobContinued,
    JobDeleted,
    JobEvent,
    JobExpired,
    JobLogged,
    JobRecalled,
    JobsArchived,
    JobSubmitted,
    NodeFinished,
    OrgLimitChanged,
    OrgPaused,
    OrgRegistered,
    OrgResumed,
    PositionMarked,
    ScheduleFired,
    StatsRecorded,
    WorkerAlive,
    WorkerLost,
    WorkflowPaused,
    WorkflowResumed,
    WriterOpened,
)
from schemas.recorded import Recorded
from services.ledger import job as jobs
from services.ledger.account import fold_account, movement
from services.ledger.archive import forget, recalled_job
from services.ledger.chains import fold_continued, fold_gone
from services.ledger.endpoints import fold_answer, fold_disabled
from services.ledger.indexes import index, refresh
from services.ledger.pausing import fold_pause
from services.ledger.setting import SettingEvent
from services.ledger.state import Ledger, Org, Worker
from services.ledger.status import Status
from services.ledger.timers import Timer

OF_ONE_JOB = frozenset(get_args(JobEvent)) - {JobSubmitted}
STEPS = frozenset({NodeFinished, ItemsPlanned, ItemsRecorded, JobLogged, StatsRecorded})


def apply(ledger: Ledger, recorded: Recorded, digest: bytes) -> None:
    """Fold an event that is stored under this hash."""
    header, event = recorded.header, recorded.event
    ledger.position = header.position
    ledger.cause = max(ledger.cause, header.cause)
    ledger.occurred_at = max(ledger.occurred_at, header.occurred_at)
    ledger.heads[event.org_id] = digest
    if type(event) in OF_ONE_JOB:  # most events: not asked of one after the other what else they may be
        _fold_job(ledger, recorded, cast("JobEvent", event))
    else:
        _fold_other(ledger, recorded)
    moved = movement(event)
    if moved:
        ledger.orgs[event.org_id].account.balance += moved.credits


def _fold_other(ledger: Ledger, recorded: Recorded) -> None:
    header, event = recorded.header, recorded.event
    match event:
        case WriterOpened():
            pass
        case PositionMarked():
            ledger.cause = max(ledger.cause, event.next_command - 1)
        case JobsArchived():
            forget(ledger, event.up_to)
        case OrgRegistered():
            org = ledger.orgs[event.org_id] = Org(event.org_id, event.max_in_flight, header.seq)
            fold_account(org.account, event)
        case OrgLimitChanged():
            org = ledger.orgs[event.org_id]
            org.max_in_flight, org.seq = event.max_in_flight, header.seq
            org.max_pending, org.max_queue_seconds = event.max_pending, event.max_queue_seconds
            org.retention_seconds = event.retention_seconds
            _remember_command(ledger, event)
            refresh(ledger, org)
        case OrgPaused() | OrgResumed() | WorkflowPaused() | WorkflowResumed():
            org = ledger.orgs[event.org_id]
            org.seq = header.seq
            fold_pause(org, event)
            _remember_command(ledger, event)
            refresh(ledger, org)
        case EndpointDisabled():
            org = ledger.orgs[event.org_id]
            org.seq = header.seq
            for timer in fold_disabled(org.endpoints, event, header.occurred_at):
                ledger.timers.set(timer)
        case ScheduleFired():
            org = ledger.orgs[event.org_id]
            org.seq = header.seq
            org.fires.note(event, ledger.occurred_at - ledger.policy.fire_lifetime)
        case OrgPlanChanged() | CreditsGranted() | CreditsHeld() | CreditsReleased():
            org = ledger.orgs[event.org_id]
            org.seq = header.seq
            fold_account(org.account, event)
            if isinstance(event, CreditsHeld):
                ledger.timers.set(Timer(event.expires_at, "hold", event.org_id, event.hold_id.hex()))
            elif isinstance(event, CreditsGranted):
                _remember_key(ledger, event)
            elif isinstance(event, OrgPlanChanged):
                _remember_command(ledger, event)
        case WorkerAlive():
            worker = ledger.workers.setdefault(
                event.boot_id, Worker(event.worker_id, event.kind, event.slots, header.occurred_at)
            )
            worker.slots, worker.seen_at = event.slots, header.occurred_at
        case WorkerLost():
            _lose(ledger, event.boot_id)
        case JobSubmitted():
            _remember_key(ledger, event)
            index(ledger, None, jobs.initial(recorded, event))
        case _:
            _fold_job(ledger, recorded, event)


def _lose(ledger: Ledger, boot_id: str) -> None:
    worker = ledger.workers.pop(boot_id, None)
    for job_id in sorted(worker.parting) if worker else ():
        job = ledger.jobs.get(job_id)
        if job is not None:  # deciders of before let go of jobs that a worker was at, and recalled them
            index(ledger, job, jobs.parted(job))


def _fold_job(ledger: Ledger, recorded: Recorded, event: JobEvent) -> None:
    if isinstance(event, JobRecalled):
        index(ledger, None, recalled_job(recorded, event))
        return
    before = ledger.jobs[event.job_id]
    after = jobs.evolve(before, recorded, event)
    match event:
        case JobContinued():
            fold_continued(ledger.orgs[after.org_id].chains, event)
        case JobDeleted() | JobExpired():
            fold_gone(ledger.orgs[after.org_id].chains, before)
    if type(event) in STEPS and after.status is Status.RUNNING:
        ledger.jobs[after.job_id] = after  # a step on its way: nothing that is looked up has changed
        return
    index(ledger, before, after)
    fold_answer(ledger.orgs[after.org_id].endpoints, after, event, recorded.header.occurred_at)


def _remember_command(ledger: Ledger, event: SettingEvent) -> None:
    if event.idempotency_digest:  # deciders of before did not say it
        ledger.orgs[event.org_id].keys.remember(event.idempotency_digest, b"", "", ledger.occurred_at)


def _remember_key(ledger: Ledger, event: JobSubmitted | CreditsGranted) -> None:
    keys, now = ledger.orgs[event.org_id].keys, ledger.occurred_at
    keys.forget(now - ledger.policy.idempotency_lifetime)
    if event.idempotency_digest:
        keys.remember(event.idempotency_digest, event.request_digest, event.job_id, now)
