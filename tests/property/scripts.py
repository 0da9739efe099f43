"""Arbitrary commands to the ledger, and what holds after every one of them."""

import heapq
import itertools
from collections import Counter
from dataclasses import dataclass

from hypothesis import strategies as st
from msgspec.structs import replace

from schemas.credit_events import CreditsGranted, CreditsHeld, CreditsReleased
from schemas.events import (
    DeliveryRequested,
    JobCancelled,
    JobFailed,
    JobSubmitted,
    NodeFinished,
    OrgRegistered,
    ReportRefused,
)
from schemas.values import After, Destination, FireKind, OnExhausted
from services.ledger.commands import (
    AnyCommand,
    CancelJob,
    ChangePlan,
    ClaimTask,
    DeleteJob,
    ExpireJob,
    FireSchedule,
    GrantCredits,
    NewJob,
    PauseOrg,
    PauseWorkflow,
    RedeliverJob,
    RegisterOrg,
    ReportProgress,
    ResumeOrg,
    ResumeWorkflow,
    RetryNow,
    SetCredits,
    SettleDeliveries,
    SubmitJobs,
    WaiveDelivery,
)
from services.ledger.decide_timer import decide_timer
from services.ledger.job import Job
from services.ledger.plans import Prices
from services.ledger.policy import SECOND, Policy
from services.ledger.reports import DeliveryResult, Extracted, Failed, HandedBack, NodeReport, RetryLater
from services.ledger.stale import matters
from services.ledger.status import Status
from tests.unit.ledger.world import START, World

ORGS = ("acme", "beta")
JOBS = ("j0", "j1", "j2", "j3")
BOOTS = ("b0", "b1")
RETENTION = 60 * SECOND
PAUSES = (PauseOrg, ResumeOrg, ResumeOrg)
PLACES = (
    Destination(destination_id="p", kind="postgres"),
    Destination(destination_id="q", kind="webhook", on_exhausted=OnExhausted.FAIL, gate_seconds=100),
    Destination(destination_id="w", kind="webhook", on_exhausted=OnExhausted.WAIVE),
    Destination(destination_id="done", kind="webhook", gating=False, after=After.COMPLETED),
    Destination(destination_id="lost", kind="webhook", gating=False, after=After.FAILED),
)


@dataclass(frozen=True)
class Wait:
    """Time passes."""

    seconds: int


@dataclass(frozen=True)
class Lose:
    """The lease of a worker runs out."""

    boot_id: str


def org_of(job_id: str) -> str:
    """Jobs with an even number belong to the first org."""
    return ORGS[int(job_id[1:]) % 2]


def submit(
    job_id: str, places: int, priority: int, workflow_id: str = "v", seconds: int = 0, behind: int = 0
) -> SubmitJobs:
    """A job of its org, to the first so many places, that waits in its queue for so long; so many more are to come."""
    return SubmitJobs(
        command_id="s",
        org_id=org_of(job_id),
        jobs=(NewJob(job_id=job_id),),
        destinations=PLACES[:places],
        priority=priority,
        idempotency_digest=job_id.encode() * 8,
        workflow_id=workflow_id,
        max_queue_seconds=seconds,
        jobs_behind=behind,
    )


def fire(job_id: str, due: int, how: FireKind, refused: str) -> FireSchedule:
    """The schedule of an org comes to a due time, or is triggered; it submits a job, or is refused."""
    submission = replace(submit(job_id, 1, 0), schedule_id="s")
    return FireSchedule(
        command_id="f",
        org_id=org_of(job_id),
        schedule_id="s",
        due_at=START + due * SECOND,
        how=how,
        submission=submission if how is FireKind.TRIGGER or not refused else None,
        refused=refused,
    )


def claim(job_id: str, boot_id: str, dispatch: int = 1) -> ClaimTask:
    """A worker asks for a job by one of its tasks."""
    named = {"org_id": org_of(job_id), "job_id": job_id, "worker_id": "w", "boot_id": boot_id}
    return ClaimTask(command_id="c", dispatch=dispatch, **named)


def grant(org_id: str, amount: int, key: int, *, up_to: bool) -> GrantCredits | SetCredits:
    """The operator gives credits, or sets a balance."""
    digest = bytes([255, key]) * 8
    if up_to:
        return SetCredits(command_id="g", org_id=org_id, credits=amount, idempotency_digest=digest)
    return GrantCredits(command_id="g", org_id=org_id, credits=amount, idempotency_digest=digest)


def report(
    job_id: str, boot_id: str, attempt: int, step: int, outcome: object, *, dear: bool = False
) -> ReportProgress:
    """A worker reports that a node is done, and how the attempt ended; `dear`: the next call costs more."""
    node = NodeReport(
        step=step, node_id=f"n{step}", node_kind="service", edge="success", next_node_id="m", next_is_fallback=dear
    )
    return ReportProgress(
        command_id="p",
        org_id=org_of(job_id),
        job_id=job_id,
        attempt=attempt,
        worker_id="w",
        boot_id=boot_id,
        nodes=(node,),
        outcome=outcome,  # type: ignore[arg-type]
    )


def settle(job_id: str, chosen: list[str], generation: int, error: str) -> SettleDeliveries:
    """A writer answers for some destinations of a job; no error: an ACK."""
    results = tuple(
        DeliveryResult(
            org_id=org_of(job_id),
            job_id=job_id,
            destination_id=place,
            generation=generation,
            error_type=error,
            retryable=error != "bad_row",
            closed=error == "endpoint_closed",
        )
        for place in chosen
    )
    return SettleDeliveries(command_id="d", results=results)


def redeliver(job_id: str, place: str, generation: int) -> RedeliverJob:
    """A person has a job delivered once more."""
    return RedeliverJob(
        command_id="rd", org_id=org_of(job_id), job_id=job_id, destination_id=place, generation=generation
    )


def waive(job_id: str, place: str, generation: int) -> WaiveDelivery:
    """A person waits for a delivery no longer."""
    return WaiveDelivery(
        command_id="wd", org_id=org_of(job_id), job_id=job_id, destination_id=place, generation=generation
    )


job_ids, boots = st.sampled_from(JOBS), st.sampled_from(BOOTS)
places = st.sampled_from(("p", "q", "w", "done", "lost", "x"))
workflows = st.sampled_from(("v", "w"))
orgs = st.sampled_from(ORGS)
calls = st.sampled_from(("call 0", "call 1", "call 2", "call 3"))  # one that comes again is a late copy
errors = st.sampled_from(("", "", "connection", "bad_row", "endpoint_closed"))
outcomes = st.sampled_from(
    (
        None,
        Extracted(result_ref="r"),
        Extracted(result_ref="r"),
        Failed(error_type="providers_exhausted"),
        Failed(error_type="internal"),
        RetryLater(node_id="n0", try_number=2, delay_ms=5000),
        HandedBack(),
    )
)
steps = st.one_of(
    st.builds(
        submit,
        job_ids,
        st.integers(0, len(PLACES)),
        st.integers(-1, 1),
        workflows,
        st.sampled_from((0, 0, 5, 60)),
        st.sampled_from((0, 0, 2)),
    ),
    st.builds(lambda of, kind, call: kind(command_id=call, org_id=of), orgs, st.sampled_from(PAUSES), calls),
    st.builds(
        lambda of, kind, name, call: kind(command_id=call, org_id=of, workflow_id=name),
        orgs,
        st.sampled_from((PauseWorkflow, ResumeWorkflow)),
        workflows,
        calls,
    ),
    st.builds(
        fire,
        job_ids,
        st.integers(0, 400),
        st.sampled_from((FireKind.CRON, FireKind.CRON, FireKind.MISSED, FireKind.TRIGGER)),
        st.sampled_from(("", "", "no_route")),
    ),
    st.builds(claim, job_ids, boots, st.integers(1, 4)),
    st.builds(grant, orgs, st.integers(0, 4), st.integers(0, 3), up_to=st.booleans()),
    st.builds(
        lambda plan, call: ChangePlan(command_id=call, org_id="beta", plan=plan),
        st.sampled_from(("bi", "prepaid")),
        calls,
    ),
    st.builds(report, job_ids, boots, st.integers(1, 2), st.integers(0, 2), outcomes, dear=st.booleans()),
    st.builds(settle, job_ids, st.lists(places, min_size=1, max_size=4), st.integers(1, 2), errors),
    st.builds(redeliver, job_ids, places, st.integers(1, 3)),
    st.builds(waive, job_ids, places, st.integers(1, 3)),
    st.builds(lambda job_id: CancelJob(command_id="x", org_id=org_of(job_id), job_id=job_id), job_ids),
    st.builds(lambda job_id: DeleteJob(command_id="e", org_id=org_of(job_id), job_id=job_id), job_ids),
    st.builds(lambda job_id: ExpireJob(command_id="y", org_id=org_of(job_id), job_id=job_id), job_ids),
    st.builds(
        lambda job_id, attempt: RetryNow(command_id="h", org_id=org_of(job_id), job_id=job_id, attempt=attempt),
        job_ids,
        st.integers(1, 3),
    ),
    st.builds(Wait, st.sampled_from((1, 5, 30, 90, 300))),
    st.builds(Lose, boots),
)


def run(script: list[AnyCommand | Wait | Lose], *, twice: bool = False) -> World:
    """Let a world live through a script, each command once or twice in a row."""
    world = World(
        Policy(
            min_window=3,
            gate_deadline=400 * SECOND,
            prices=Prices(fallback=1),
            hold_lifetime=200 * SECOND,
            retention=RETENTION,
        )
    )
    for org, balance in zip(ORGS, (3, None), strict=True):
        world.when(RegisterOrg(command_id="r", org_id=org, name=org, max_in_flight=2, credits=balance))
    for step in script:
        match step:
            case Wait():
                world.after(step.seconds)
            case Lose():
                world.lose(step.boot_id)
            case _:
                world.when(step)
                if twice:
                    # each stale report is recorded, and of a job that is gone the stores are asked to forget again
                    again = [e for e in world.when(step) if not isinstance(e, ReportRefused)]
                    assert all(isinstance(e, DeliveryRequested) and e.erase for e in again)
        check(world)
    return world


def check(world: World) -> None:
    """What holds after every step."""
    ledger = world.ledger
    check_credits(world)
    for org in ledger.orgs.values():
        mine = [job for job in ledger.jobs.values() if job.org_id == org.org_id]
        assert org.in_flight == sum(job.holds_slot for job in mine) <= org.max_in_flight
        assert org.pending == sum(job.status is Status.PENDING for job in mine)
        for kind, queue in org.queues.items():
            line = [ledger.jobs[job_id] for job_id in queue.in_order(ledger.jobs)]
            aside = [ledger.jobs[job_id] for job_id in queue.in_order(ledger.jobs, paused=True)]
            assert len(line) == len({job.job_id for job in line}) == queue.open
            assert len(aside) == len({job.job_id for job in aside}) == len(queue) - queue.open
            for jobs, paused in ((line, False), (aside, True)):
                assert {job.terms.workflow_id in org.paused_workflows for job in jobs} <= {paused}
                due = list(itertools.takewhile(lambda job: job.status is Status.WAITING_RETRY, jobs))
                waiting = [
                    job for job in mine if job.queued and (job.terms.workflow_id in org.paused_workflows) is paused
                ]
                assert jobs[len(due) :] == _merged(waiting)
            assert queue.first(ledger.jobs) == next(iter(line), None)
            may = bool(line) and not org.paused and org.in_flight < org.max_in_flight
            assert (org.org_id in ledger.turns[kind]) is may
    for timer in ledger.timers:
        assert matters(ledger, timer) or decide_timer(ledger, timer, max(world.now, timer.due_at)) == []
    for kind, running in ledger.running.items():
        assert running == sum(job.status is Status.RUNNING for job in ledger.jobs.values() if job.vocabulary == kind)
    for kind, unclaimed in ledger.unclaimed.items():
        assert unclaimed == sum(job.task_out for job in ledger.jobs.values() if job.vocabulary == kind)
    for boot_id, worker in ledger.workers.items():
        assert worker.jobs == {
            job.job_id for job in ledger.jobs.values() if job.status is Status.RUNNING and job.boot_id == boot_id
        }


def _merged(waiting: list[Job]) -> list[Job]:
    """Each workflow has a line in order; of two submitted at the same microsecond the ids tell which goes first."""
    workflows = {job.terms.workflow_id for job in waiting}
    lines = [sorted((job for job in waiting if job.terms.workflow_id == each), key=_turn) for each in workflows]
    return list(heapq.merge(*lines, key=lambda job: (*_turn(job)[:3], job.job_id)))


def check_credits(world: World) -> None:
    """Balances are what the events say, never below zero, and each job is given back once what it had cost."""
    balances, cost, refunded = Counter[str](), Counter[str](), set[str]()
    for recorded in world.seen:
        event = recorded.event
        match event:
            case OrgRegistered() | CreditsGranted() | CreditsReleased():
                balances[event.org_id] += event.credits
            case CreditsHeld():
                balances[event.org_id] -= event.credits
            case JobSubmitted():
                balances[event.org_id] -= event.credits
                cost[event.job_id] += event.credits
            case NodeFinished():
                balances[event.org_id] -= event.surcharge
                cost[event.job_id] += event.surcharge
            case JobFailed() | JobCancelled() if event.refund:
                assert event.refund == cost[event.job_id]
                assert event.job_id not in refunded
                refunded.add(event.job_id)
                balances[event.org_id] += event.refund
        assert balances[event.org_id] >= 0
    for org in world.ledger.orgs.values():
        assert org.account.balance == balances[org.org_id]
        assert all(held > 0 for held in org.account.holds.values())


def _turn(job: Job) -> tuple[int, bool, int, str]:
    """Place in a queue: by priority, those that come back before those that never ran, then as submitted."""
    return -job.terms.priority, not job.dispatch, job.submitted_at, job.job_id if job.dispatch else ""


scripts = st.lists(steps, max_size=60)
