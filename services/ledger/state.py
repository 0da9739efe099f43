"""Everything that the events of one partition add up to, with the indexes that decisions need."""

from collections import OrderedDict
from dataclasses import dataclass, field

from schemas.events import (
    AnyEvent,
    JobSubmitted,
    OrgLimitChanged,
    OrgRegistered,
    PositionMarked,
    Recorded,
    WorkerAlive,
    WorkerLost,
    WriterOpened,
)
from services.ledger import job as jobs
from services.ledger.delivery import SETTLED, DeliveryState
from services.ledger.job import Job, JobEvent
from services.ledger.policy import Policy
from services.ledger.queue import OrgQueue
from services.ledger.status import Status
from services.ledger.timers import Timer, Timers

NO_HASH = bytes(32)
ENDED_KEPT = 20_000  # ended jobs that stay in memory, so that late commands on them are answered exactly


@dataclass(slots=True)
class SubmissionKey:
    """What an idempotency key stands for."""

    request_digest: bytes
    expires_at: int
    job_ids: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Org:
    """An org on this partition."""

    org_id: str
    max_in_flight: int
    seq: int = 0
    in_flight: int = 0
    queues: dict[str, OrgQueue] = field(default_factory=dict)  # by kind
    keys: OrderedDict[bytes, SubmissionKey] = field(default_factory=OrderedDict)


@dataclass(slots=True)
class Worker:
    """A run of a worker."""

    worker_id: str
    kind: str
    slots: int
    seen_at: int
    jobs: set[str] = field(default_factory=set)


@dataclass(slots=True)
class Ledger:
    """State of one partition: the fold of its events. Only `apply` changes it."""

    partition: int
    policy: Policy = field(default_factory=Policy)
    position: int = 0
    cause: int = -1
    occurred_at: int = 0
    heads: dict[str, bytes] = field(default_factory=dict)  # org -> hash of its newest event
    orgs: dict[str, Org] = field(default_factory=dict)
    jobs: dict[str, Job] = field(default_factory=dict)
    workers: dict[str, Worker] = field(default_factory=dict)  # by boot id
    ended: OrderedDict[str, None] = field(default_factory=OrderedDict)
    unclaimed: dict[str, int] = field(default_factory=dict)  # by kind
    rings: dict[str, OrderedDict[str, None]] = field(default_factory=dict)  # kind -> orgs with a job for a free slot
    timers: Timers = field(default_factory=Timers)


def next_seq(ledger: Ledger, event: AnyEvent) -> int:
    """Ordinal that an event would get: within its job, else within its org, else 0."""
    if event.job_id:
        job = ledger.jobs.get(event.job_id)
        return job.seq + 1 if job else 1
    org = ledger.orgs.get(event.org_id)
    return (org.seq + 1 if org else 1) if event.org_id else 0


def apply(ledger: Ledger, recorded: Recorded, digest: bytes) -> None:
    """Fold one event, stored under this hash, into the state. Never refuses: events are facts."""
    header, event = recorded.header, recorded.event
    ledger.position = header.position
    ledger.cause = max(ledger.cause, header.cause)
    ledger.occurred_at = max(ledger.occurred_at, header.occurred_at)
    ledger.heads[event.org_id] = digest
    match event:
        case WriterOpened():
            pass
        case PositionMarked():
            ledger.cause = max(ledger.cause, event.next_command - 1)
        case OrgRegistered():
            ledger.orgs[event.org_id] = Org(event.org_id, event.max_in_flight, header.seq)
        case OrgLimitChanged():
            org = ledger.orgs[event.org_id]
            org.max_in_flight, org.seq = event.max_in_flight, header.seq
            _refresh(ledger, org)
        case WorkerAlive():
            worker = ledger.workers.setdefault(
                event.boot_id, Worker(event.worker_id, event.kind, event.slots, header.occurred_at)
            )
            worker.slots, worker.seen_at = event.slots, header.occurred_at
        case WorkerLost():
            ledger.workers.pop(event.boot_id, None)
        case JobSubmitted():
            _remember_key(ledger, event)
            _index(ledger, None, jobs.initial(recorded, event))
        case _:
            _fold_job(ledger, recorded, event)


def _fold_job(ledger: Ledger, recorded: Recorded, event: JobEvent) -> None:
    before = ledger.jobs.get(event.job_id)
    if before is not None:  # a job that left memory has nothing more to decide
        _index(ledger, before, jobs.evolve(before, recorded, event))


def make_due(ledger: Ledger, job: Job) -> None:
    """Put a deferred retry whose time has come ahead of the pending jobs of its org."""
    org = ledger.orgs[job.org_id]
    _queue(org, job.vocabulary).make_due(job.job_id)
    _refresh(ledger, org)


def _index(ledger: Ledger, before: Job | None, after: Job) -> None:
    """Bring every index from one state of a job to the next; each is a function of the job alone."""
    ledger.jobs[after.job_id] = after
    org = ledger.orgs[after.org_id]
    queue = _queue(org, after.vocabulary)
    if after.queued and after.job_id not in queue:
        queue.add(after)
    elif not after.queued and (after.task_out or after.status is not Status.WAITING_RETRY):
        queue.discard(after.job_id)
    org.in_flight += after.holds_slot - (before is not None and before.holds_slot)
    kind = after.vocabulary
    out = after.task_out - (before is not None and before.task_out)
    ledger.unclaimed[kind] = ledger.unclaimed.get(kind, 0) + out
    _index_owner(ledger, before, after)
    _set_timers(ledger, before, after)
    _refresh(ledger, org)
    if after.terminal and not _delivering(after):
        _forget(ledger, after)


def _queue(org: Org, kind: str) -> OrgQueue:
    return org.queues.setdefault(kind, OrgQueue())


def _index_owner(ledger: Ledger, before: Job | None, after: Job) -> None:
    if before is not None and before.status is Status.RUNNING and (worker := ledger.workers.get(before.boot_id)):
        worker.jobs.discard(before.job_id)
    if after.status is Status.RUNNING and (worker := ledger.workers.get(after.boot_id)):
        worker.jobs.add(after.job_id)


def _set_timers(ledger: Ledger, before: Job | None, after: Job) -> None:
    timers, policy, now = ledger.timers, ledger.policy, ledger.occurred_at
    if after.task_out and (before is None or before.dispatch != after.dispatch):
        timers.set(Timer(now + policy.dispatch_resend, "dispatch", after.job_id, str(after.dispatch)))
    if after.status is Status.WAITING_RETRY and before is not None and before.status is not after.status:
        timers.set(Timer(after.retry_due_at, "retry", after.job_id, ""))
    if after.max_run_seconds and after.first_claimed_at and before is not None and not before.first_claimed_at:
        timers.set(Timer(after.first_claimed_at + after.max_run_seconds * 1_000_000, "deadline", after.job_id, ""))
    for delivery in after.deliveries:
        if before is None or delivery not in before.deliveries:
            name = delivery.destination.destination_id
            if delivery.state is DeliveryState.REQUESTED:
                due = now + policy.resend_after(delivery.try_number)
                timers.set(Timer(due, "delivery", after.job_id, name))
            elif delivery.state is DeliveryState.WAITING and delivery.next_try_at:
                timers.set(Timer(delivery.next_try_at, "delivery", after.job_id, name))


def _refresh(ledger: Ledger, org: Org) -> None:
    """Keep an org in the ring of each kind for which it has both a waiting job and a free slot."""
    for kind, queue in org.queues.items():
        ring = ledger.rings.setdefault(kind, OrderedDict())
        if len(queue) and org.in_flight < org.max_in_flight:
            ring.setdefault(org.org_id)
        else:
            ring.pop(org.org_id, None)


def _delivering(job: Job) -> bool:
    """Whether an ended job still has deliveries to look after: only one with a result has."""
    return job.status is Status.COMPLETED and any(d.state not in SETTLED for d in job.deliveries)


def _forget(ledger: Ledger, job: Job) -> None:
    ledger.ended[job.job_id] = None
    while len(ledger.ended) > ENDED_KEPT:
        oldest, _ = ledger.ended.popitem(last=False)
        ledger.jobs.pop(oldest, None)


def _remember_key(ledger: Ledger, event: JobSubmitted) -> None:
    keys = ledger.orgs[event.org_id].keys
    while keys and next(iter(keys.values())).expires_at <= ledger.occurred_at:
        keys.popitem(last=False)
    if event.idempotency_digest:
        expires_at = ledger.occurred_at + ledger.policy.idempotency_lifetime
        key = keys.setdefault(event.idempotency_digest, SubmissionKey(event.request_digest, expires_at))
        key.job_ids.append(event.job_id)
