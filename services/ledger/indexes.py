"""What decisions look up instead of going through every job: queues, counters, owners, turns, timers, ended jobs."""

from functools import partial

from services.ledger.delivery import SETTLED
from services.ledger.endpoints import index_queued
from services.ledger.gate import deadline, due_at
from services.ledger.job import Job
from services.ledger.policy import SECOND
from services.ledger.queue import OrgQueue
from services.ledger.stale import matters
from services.ledger.state import Ledger, Org
from services.ledger.status import Status
from services.ledger.timers import Timer
from services.ledger.turns import NONE_IN_FLIGHT, ONE_SLOT, SOME_IN_FLIGHT, Turns


def index(ledger: Ledger, before: Job | None, after: Job) -> None:
    """Bring every index from one state of a job to the next (None: it is new); each depends on its jobs alone."""
    dispatched = after.task_out and not (before is not None and before.task_out)
    if dispatched and before is not None and before.status is Status.WAITING_RETRY:
        _make_due(ledger, before)  # that it was due is in the log only now, and its org had this turn by it
    ledger.jobs[after.job_id] = after
    org = enroll(ledger, before, after)
    _set_timers(ledger, before, after)
    if ledger.timers.crowded:
        ledger.timers.sweep(partial(matters, ledger))
    if dispatched:
        turns_of(ledger, after.vocabulary).take(org.org_id)
    _learn(ledger, before, after)
    refresh(ledger, org)
    ledger.ended.pop(after.job_id, None)
    if after.terminal and after.settled:
        ledger.ended[after.job_id] = ledger.position  # redelivered, it is looked after again until that is settled


def enroll(ledger: Ledger, before: Job | None, after: Job) -> Org:
    """Bring what follows from the jobs alone to the next state of one: its org's queue and counters, and its owner."""
    org = ledger.orgs[after.org_id]
    if before is None and after.status is Status.PENDING and not (after.task_out or after.deliveries):
        _queue(org, after.vocabulary).add(after)  # it waits, and nothing else: most of what a restore brings back
        org.pending += 1
        org.live += 1
        return org
    _index_queue(ledger, org, before, after)
    _index_holder(org, after)
    _count(ledger, org, before, after)
    _index_owner(ledger, before, after)
    if after.deliveries or (before is not None and before.deliveries):
        index_queued(org.endpoints, before, after)
        ledger.resends.index(before, after)
    return org


def refresh(ledger: Ledger, org: Org) -> None:
    """Let an org take its turns for each kind of which it has a job that may run and a free slot."""
    in_flight = org.in_flight
    free = in_flight < org.max_in_flight and not org.paused
    for kind, queue in org.queues.items():
        if not (free and queue.open):
            turns_of(ledger, kind).leave(org.org_id)
        elif in_flight:
            turns_of(ledger, kind).put(org.org_id, SOME_IN_FLIGHT)
        else:
            turns_of(ledger, kind).put(org.org_id, ONE_SLOT if queue.open == 1 else NONE_IN_FLIGHT)


def turns_of(ledger: Ledger, kind: str) -> Turns:
    """Return whose turn it is for tasks of a kind."""
    turns = ledger.turns.get(kind)
    if turns is None:
        turns = ledger.turns[kind] = Turns()
    return turns


def pop_due(ledger: Ledger, now: int) -> Timer | None:
    """Take out the earliest wait that is over, if there is one; a due retry goes ahead in the queue of its org.

    A delivery that is due goes into its line where too many are out; those go first for which there is room again.
    """
    timer = ledger.resends.pop() or ledger.timers.pop_due(now)
    if timer is not None and timer.kind == "delivery":
        _line_up(ledger, timer)
    if timer is not None and timer.kind == "retry":
        job = ledger.jobs.get(timer.job_id)
        if job and job.status is Status.WAITING_RETRY and not job.task_out and job.run.retry_due_at <= now:
            _make_due(ledger, job)
    return timer


def _line_up(ledger: Ledger, timer: Timer) -> None:
    job = ledger.jobs.get(timer.job_id)
    delivery = job.delivery(timer.detail) if job is not None else None
    if job is None or delivery is None or delivery.state in SETTLED or not job.delivers(delivery):
        return  # nothing follows from it: it takes nobody's place, and is not waited for until a deadline
    if ledger.resends.has_room(job, delivery):
        return
    ledger.resends.put(timer, job, delivery)
    until = deadline(job, delivery, ledger.policy)
    if until > timer.due_at:  # however long the line is, the job waits no longer
        ledger.timers.set(Timer(until, "delivery", timer.job_id, timer.detail))


def _make_due(ledger: Ledger, job: Job) -> None:
    org = ledger.orgs[job.org_id]
    _queue(org, job.vocabulary).make_due(job)
    refresh(ledger, org)


def _queue(org: Org, kind: str) -> OrgQueue:
    queue = org.queues.get(kind)
    if queue is None:
        queue = org.queues[kind] = OrgQueue(org.paused_workflows)
    return queue


def _index_queue(ledger: Ledger, org: Org, before: Job | None, after: Job) -> None:
    queue = _queue(org, after.vocabulary)
    waited = before is not None and before.queued
    if after.queued and not waited:
        queue.add(after)
    elif waited and not after.queued:
        queue.leave(after, ledger.jobs)
    if after.task_out or after.status is not Status.WAITING_RETRY:  # a deferred retry may be in line already
        queue.leave_due(after, ledger.jobs)


def _index_holder(org: Org, after: Job) -> None:
    if after.holds_slot:
        org.holders.setdefault(after.job_id)
    else:
        org.holders.pop(after.job_id, None)


def _count(ledger: Ledger, org: Org, before: Job | None, after: Job) -> None:
    kind, was = after.vocabulary, before.status if before is not None else None
    org.live += (not after.terminal) - (before is not None and not before.terminal)
    out = after.task_out - (before is not None and before.task_out)
    if out:
        ledger.unclaimed[kind] = ledger.unclaimed.get(kind, 0) + out
    if after.status is not was:
        org.pending += (after.status is Status.PENDING) - (was is Status.PENDING)
        runs = (after.status is Status.RUNNING) - (was is Status.RUNNING)
        ledger.running[kind] = ledger.running.get(kind, 0) + runs


def _learn(ledger: Ledger, before: Job | None, after: Job) -> None:
    """Keep in mind how long runs take: the mean, in which each counts an eighth."""
    if before is None or before.status is not Status.RUNNING or after.status in (Status.RUNNING, Status.PENDING):
        return
    took = max(1, ledger.occurred_at - before.claimed_at)
    mean = ledger.run_means.get(after.vocabulary, took)
    ledger.run_means[after.vocabulary] = mean + (took - mean) // 8


def _index_owner(ledger: Ledger, before: Job | None, after: Job) -> None:
    if after.parting and (worker := ledger.workers.get(after.boot_id)):
        worker.parting.add(after.job_id)
    elif before is not None and before.parting and (worker := ledger.workers.get(before.boot_id)):
        worker.parting.discard(before.job_id)
    if before is not None and before.status is Status.RUNNING and (worker := ledger.workers.get(before.boot_id)):
        worker.jobs.discard(before.job_id)
    if after.status is Status.RUNNING and (worker := ledger.workers.get(after.boot_id)):
        worker.jobs.add(after.job_id)


def _waits_anew(before: Job, after: Job) -> bool:
    return before.status is not after.status or before.run.retry_due_at != after.run.retry_due_at


def _set_timers(ledger: Ledger, before: Job | None, after: Job) -> None:
    timers, policy, now = ledger.timers, ledger.policy, ledger.occurred_at
    if before is None and (seconds := after.terms.max_queue_seconds) and after.status is Status.PENDING:
        timers.set(Timer(after.submitted_at + seconds * SECOND, "queue", after.job_id, ""))
    if after.task_out and (before is None or before.dispatch != after.dispatch):
        timers.set(Timer(now + policy.dispatch_resend, "dispatch", after.job_id, str(after.dispatch)))
    if after.status is Status.WAITING_RETRY and before is not None and _waits_anew(before, after):
        timers.set(Timer(after.run.retry_due_at, "retry", after.job_id, ""))
    limit, began = after.terms.max_run_seconds, after.run.first_claimed_at
    if limit and began and before is not None and not before.run.first_claimed_at:
        timers.set(Timer(began + limit * SECOND, "deadline", after.job_id, ""))
    if before is not None and after.deliveries is not before.deliveries:
        known = set(map(id, before.deliveries))  # not by value: a job may have a hundred
        for delivery in after.deliveries:
            if id(delivery) not in known and (due := due_at(after, delivery, policy)):
                timers.set(Timer(due, "delivery", after.job_id, delivery.destination.destination_id))
