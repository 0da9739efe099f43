"""Rules of the ledger under arbitrary commands: legal, repeatable, and a pure fold of their events."""

import itertools
from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.events import AnyEvent, DeliveryRequested, JobCompleted, JobFailed, Recorded, ReportRefused
from schemas.values import After, Destination, OnExhausted
from services.ledger import job as jobs
from services.ledger.apply import apply
from services.ledger.decide_timer import decide_timer
from services.ledger.gate import pending
from services.ledger.job import Job
from services.ledger.messages import (
    AnyCommand,
    CancelJob,
    ClaimTask,
    DeleteJob,
    DeliveryResult,
    Extracted,
    Failed,
    HandedBack,
    NewJob,
    NodeReport,
    RedeliverJob,
    RegisterOrg,
    ReportProgress,
    RetryLater,
    SettleDeliveries,
    SubmitJobs,
    WaiveDelivery,
)
from services.ledger.policy import SECOND, Policy
from services.ledger.record import digest_of
from services.ledger.stale import matters
from services.ledger.state import Ledger
from services.ledger.status import TERMINAL, Status, allowed
from tests.unit.ledger.world import PlainEncoder, World

ORGS = ("acme", "beta")
JOBS = ("j0", "j1", "j2", "j3")
BOOTS = ("b0", "b1")
PLACES = (
    Destination(destination_id="p", kind="postgres"),
    Destination(destination_id="q", kind="webhook", on_exhausted=OnExhausted.FAIL, gate_seconds=100),
    Destination(destination_id="w", kind="webhook", on_exhausted=OnExhausted.WAIVE),
    Destination(destination_id="done", kind="webhook", gating=False, after=After.COMPLETED),
    Destination(destination_id="lost", kind="webhook", gating=False, after=After.FAILED),
)
END_OF = {"done": JobCompleted, "lost": JobFailed}


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


def _submit(job_id: str, places: int, priority: int) -> SubmitJobs:
    return SubmitJobs(
        command_id="s",
        org_id=org_of(job_id),
        jobs=(NewJob(job_id=job_id),),
        destinations=PLACES[:places],
        priority=priority,
        idempotency_digest=job_id.encode() * 8,
    )


def _claim(job_id: str, boot_id: str) -> ClaimTask:
    return ClaimTask(command_id="c", org_id=org_of(job_id), job_id=job_id, dispatch=1, worker_id="w", boot_id=boot_id)


def _report(job_id: str, boot_id: str, attempt: int, step: int, outcome: object) -> ReportProgress:
    node = NodeReport(step=step, node_id=f"n{step}", node_kind="service", edge="success", next_node_id="m")
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


def _settle(job_id: str, chosen: list[str], generation: int, error: str) -> SettleDeliveries:
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


def _redeliver(job_id: str, place: str, generation: int) -> RedeliverJob:
    return RedeliverJob(
        command_id="rd", org_id=org_of(job_id), job_id=job_id, destination_id=place, generation=generation
    )


def _waive(job_id: str, place: str) -> WaiveDelivery:
    return WaiveDelivery(command_id="wd", org_id=org_of(job_id), job_id=job_id, destination_id=place)


job_ids, boots = st.sampled_from(JOBS), st.sampled_from(BOOTS)
places = st.sampled_from(("p", "q", "w", "done", "lost", "x"))
errors = st.sampled_from(("", "", "connection", "bad_row", "endpoint_closed"))
outcomes = st.sampled_from(
    (
        None,
        Extracted(result_ref="r"),
        Extracted(result_ref="r"),
        Failed(error_type="providers_exhausted"),
        RetryLater(node_id="n0", try_number=2, delay_ms=5000),
        HandedBack(),
    )
)
steps = st.one_of(
    st.builds(_submit, job_ids, st.integers(0, len(PLACES)), st.integers(-1, 1)),
    st.builds(_claim, job_ids, boots),
    st.builds(_report, job_ids, boots, st.integers(1, 2), st.integers(0, 2), outcomes),
    st.builds(_settle, job_ids, st.lists(places, min_size=1, max_size=4), st.integers(1, 2), errors),
    st.builds(_redeliver, job_ids, places, st.integers(1, 3)),
    st.builds(_waive, job_ids, places),
    st.builds(lambda job_id: CancelJob(command_id="x", org_id=org_of(job_id), job_id=job_id), job_ids),
    st.builds(lambda job_id: DeleteJob(command_id="e", org_id=org_of(job_id), job_id=job_id), job_ids),
    st.builds(Wait, st.sampled_from((1, 5, 30, 90, 300))),
    st.builds(Lose, boots),
)


def run(script: list[AnyCommand | Wait | Lose], *, twice: bool = False) -> World:
    """Let a world live through a script, each command once or twice in a row."""
    world = World(Policy(min_window=3, gate_deadline=400 * SECOND))
    for org in ORGS:
        world.when(RegisterOrg(command_id="r", org_id=org, name=org, max_in_flight=2))
    for step in script:
        match step:
            case Wait():
                world.after(step.seconds)
            case Lose():
                world.lose(step.boot_id)
            case _:
                world.when(step)
                if twice:
                    # each stale report is recorded, and of a deleted job the stores are asked to forget again
                    again = [e for e in world.when(step) if not isinstance(e, ReportRefused)]
                    assert all(isinstance(e, DeliveryRequested) and e.erase for e in again)
        check(world)
    return world


def check(world: World) -> None:
    """What holds after every step."""
    ledger = world.ledger
    for org in ledger.orgs.values():
        mine = [job for job in ledger.jobs.values() if job.org_id == org.org_id]
        assert org.in_flight == sum(job.holds_slot for job in mine) <= org.max_in_flight
        for queue in org.queues.values():
            line = [ledger.jobs[job_id] for job_id in queue.in_order(ledger.jobs)]
            assert len(line) == len({job.job_id for job in line}) == len(queue)
            due = list(itertools.takewhile(lambda job: job.status is Status.WAITING_RETRY, line))
            assert line[len(due) :] == sorted((job for job in mine if job.queued), key=_turn)
            assert queue.first(ledger.jobs) == next(iter(line), None)
    for timer in ledger.timers:
        assert matters(ledger, timer) or decide_timer(ledger, timer, max(world.now, timer.due_at)) == []
    for kind, unclaimed in ledger.unclaimed.items():
        assert unclaimed == sum(job.task_out for job in ledger.jobs.values() if job.vocabulary == kind)
    for boot_id, worker in ledger.workers.items():
        assert worker.jobs == {
            job.job_id for job in ledger.jobs.values() if job.status is Status.RUNNING and job.boot_id == boot_id
        }


def _turn(job: Job) -> tuple[int, bool, int, str]:
    """Place in a queue: by priority, those that come back before those that never ran, then as submitted."""
    return -job.terms.priority, not job.dispatch, job.submitted_at, job.job_id if job.dispatch else ""


scripts = st.lists(steps, max_size=60)


@settings(max_examples=300, deadline=None)
@given(scripts)
def test_every_event_is_legal_where_it_stands(script: list[AnyCommand | Wait | Lose]) -> None:
    world = run(script)
    states: dict[str, Job] = {}
    for recorded in world.seen:
        event, header = recorded.event, recorded.header
        if not event.job_id:
            continue
        before = states.get(event.job_id)
        assert allowed(event, before.status if before else None), (header.event_type, before)
        assert header.seq == (before.seq + 1 if before else 1)
        if isinstance(event, JobCompleted):
            assert before is not None
            assert pending(before) == ()
            assert set(event.opened_by) == {d.opened_by for d in before.deliveries if d.destination.gating}
        states[event.job_id] = _evolved(before, recorded, event)
    assert {job_id: states[job_id] for job_id in states} == dict(world.ledger.jobs)


def _evolved(before: Job | None, recorded: Recorded, event: AnyEvent) -> Job:
    if before is None:
        return jobs.initial(recorded, event)  # type: ignore[arg-type]
    return jobs.evolve(before, recorded, event)  # type: ignore[arg-type]


@settings(max_examples=200, deadline=None)
@given(scripts)
def test_deciding_twice_adds_nothing(script: list[AnyCommand | Wait | Lose]) -> None:
    run(script, twice=True)


@settings(max_examples=200, deadline=None)
@given(scripts)
def test_the_state_is_the_fold_of_its_events(script: list[AnyCommand | Wait | Lose]) -> None:
    world = run(script)
    again = Ledger(0, world.policy)
    encoder = PlainEncoder()
    for recorded in world.seen:
        apply(again, recorded, digest_of(encoder.encode(recorded)))
    assert again.jobs == world.ledger.jobs
    assert (again.position, again.cause, again.heads) == (
        world.ledger.position,
        max(r.header.cause for r in world.seen),
        world.ledger.heads,
    )
    for org_id, org in again.orgs.items():
        assert org.in_flight == world.ledger.orgs[org_id].in_flight
    assert again.unclaimed == world.ledger.unclaimed


@settings(max_examples=300, deadline=None)
@given(scripts)
def test_a_job_that_ended_is_told_of_by_the_notices_of_that_end_and_no_others(
    script: list[AnyCommand | Wait | Lose],
) -> None:
    world = run(script)
    ends: dict[tuple[str, str], type[AnyEvent]] = {}
    told: set[tuple[str, str]] = set()
    for recorded in world.seen:
        event = recorded.event
        for place, end in END_OF.items():
            if isinstance(event, end):
                ends[event.job_id, place] = end
        if isinstance(event, DeliveryRequested) and event.destination_id in END_OF:
            assert (event.job_id, event.destination_id) in ends
            told.add((event.job_id, event.destination_id))
    subscribed = {
        (job.job_id, place.destination_id) for job in world.ledger.jobs.values() for place in job.destinations
    }
    assert told == set(ends) & subscribed


@settings(max_examples=200, deadline=None)
@given(scripts)
def test_positions_are_gapless_and_time_never_runs_backwards(script: list[AnyCommand | Wait | Lose]) -> None:
    headers = [recorded.header for recorded in run(script).seen]
    assert [header.position for header in headers] == list(range(1, len(headers) + 1))
    assert all(a.occurred_at <= b.occurred_at for a, b in itertools.pairwise(headers))
    assert len({header.event_id for header in headers}) == len(headers)


@settings(max_examples=100, deadline=None)
@given(scripts)
def test_once_the_faults_stop_every_job_ends(script: list[AnyCommand | Wait | Lose]) -> None:
    world = run(script)
    for _ in range(40):
        world.after(3600)
        for job in list(world.ledger.jobs.values()):
            if job.task_out:
                world.when(_claim(job.job_id, "fresh"))
            owner = world.job(job.job_id)
            if owner.status is Status.RUNNING:
                world.when(
                    _report(job.job_id, owner.boot_id, owner.attempt, owner.resume.step, Extracted(result_ref="r"))
                )
            for delivery in world.job(job.job_id).deliveries:
                world.when(_settle(job.job_id, [delivery.destination.destination_id], delivery.generation, ""))
    assert {job.status for job in world.ledger.jobs.values()} <= TERMINAL
