"""Rules of the ledger under arbitrary commands: legal, repeatable, and a pure fold of their events."""

import itertools

from hypothesis import given, settings

from schemas.events import (
    AnyEvent,
    DeliveryRequested,
    JobCancelled,
    JobCompleted,
    JobExpired,
    JobFailed,
    WorkerLost,
)
from schemas.recorded import Header, Recorded
from services.ledger import job as jobs
from services.ledger.apply import apply
from services.ledger.commands import AnyCommand, ResumeOrg, ResumeWorkflow
from services.ledger.gate import pending
from services.ledger.job import Job
from services.ledger.record import digest_of
from services.ledger.reports import Extracted
from services.ledger.state import Ledger
from services.ledger.status import TERMINAL, Status, allowed
from tests.property.scripts import ORGS, RETENTION, Lose, Wait, claim, report, run, scripts, settle
from tests.unit.ledger.world import PlainEncoder, World

END_OF = {"done": JobCompleted, "lost": JobFailed}


@settings(max_examples=300, deadline=None)
@given(scripts)
def test_every_event_is_legal_and_in_line_where_it_stands_and_the_state_is_their_fold(
    script: list[AnyCommand | Wait | Lose],
) -> None:
    world = run(script)
    _in_line([recorded.header for recorded in world.seen])
    assert _legal(world.seen) == dict(world.ledger.jobs)
    _folded(world)


def _in_line(headers: list[Header]) -> None:
    """Positions are gapless, ids differ, and time never runs backwards."""
    assert [header.position for header in headers] == list(range(1, len(headers) + 1))
    assert all(a.occurred_at <= b.occurred_at for a, b in itertools.pairwise(headers))
    assert len({header.event_id for header in headers}) == len(headers)


def _legal(seen: list[Recorded]) -> dict[str, Job]:
    """Every event is one that its job allows; return what each job has become by its own events alone."""
    states: dict[str, Job] = {}
    for recorded in seen:
        event, header = recorded.event, recorded.header
        if isinstance(event, WorkerLost):
            states.update(_parted(states, event.boot_id))
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
    return states


def _parted(states: dict[str, Job], boot_id: str) -> dict[str, Job]:
    """The jobs that ended while a worker was at them, once it is lost: no report of theirs is awaited any longer."""
    return {job_id: jobs.parted(job) for job_id, job in states.items() if job.parting and job.boot_id == boot_id}


def _evolved(before: Job | None, recorded: Recorded, event: AnyEvent) -> Job:
    if before is None:
        return jobs.initial(recorded, event)  # type: ignore[arg-type]
    return jobs.evolve(before, recorded, event)  # type: ignore[arg-type]


def _folded(world: World) -> None:
    """Another ledger that reads the events is in the same state."""
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
        known = world.ledger.orgs[org_id]
        assert (org.in_flight, org.pending, org.paused, org.paused_workflows) == (
            known.in_flight,
            known.pending,
            known.paused,
            known.paused_workflows,
        )
    assert (again.unclaimed, again.running) == (world.ledger.unclaimed, world.ledger.running)


@settings(max_examples=200, deadline=None)
@given(scripts)
def test_deciding_twice_adds_nothing(script: list[AnyCommand | Wait | Lose]) -> None:
    run(script, twice=True)


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
def test_results_expire_once_and_in_time_and_nothing_is_delivered_of_them_later(
    script: list[AnyCommand | Wait | Lose],
) -> None:
    ended: dict[str, int] = {}
    expired: set[str] = set()
    for recorded in run(script).seen:
        event, at = recorded.event, recorded.header.occurred_at
        match event:
            case JobCompleted() | JobFailed() | JobCancelled():
                ended[event.job_id] = at
            case JobExpired():
                assert event.job_id not in expired
                assert event.ended_at == ended[event.job_id] <= at - RETENTION
                expired.add(event.job_id)
            case DeliveryRequested():
                assert event.erase or event.job_id not in expired


@settings(max_examples=100, deadline=None)
@given(scripts)
def test_once_the_faults_stop_every_job_ends(script: list[AnyCommand | Wait | Lose]) -> None:
    world = run(script)
    for org in ORGS:
        world.when(ResumeOrg(command_id="ro", org_id=org))
        for workflow in ("v", "w"):
            world.when(ResumeWorkflow(command_id="rw", org_id=org, workflow_id=workflow))
    for _ in range(40):
        world.after(3600)
        for job in list(world.ledger.jobs.values()):
            if job.task_out:
                world.when(claim(job.job_id, "fresh", job.dispatch))
            owner = world.job(job.job_id)
            if owner.status is Status.RUNNING:
                world.when(
                    report(job.job_id, owner.boot_id, owner.attempt, owner.resume.step, Extracted(result_ref="r"))
                )
            for delivery in world.job(job.job_id).deliveries:
                world.when(settle(job.job_id, [delivery.destination.destination_id], delivery.generation, ""))
    assert {job.status for job in world.ledger.jobs.values()} <= TERMINAL
