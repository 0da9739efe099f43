"""Dated waits under arbitrary scripts, crashes and pauses: none is lost, none comes twice, none comes early."""

from collections import Counter
from collections.abc import Iterable
from functools import partial

from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.events import DeliveryFailed, DeliveryRequested, JobClaimed, JobDispatched, NodeFinished, RetryScheduled
from services.decider.batch import BatchDecider
from services.ledger.apply import apply
from services.ledger.policy import MINUTE, SECOND, Policy
from services.ledger.record import digest_of
from services.ledger.reports import RetryLater
from services.ledger.stale import matters
from services.ledger.state import Ledger
from tests.unit.ledger.world import EXTRACTED, POSTGRES, PlainEncoder, World, ack, failed_node, node

JOBS = tuple(f"j{number}" for number in range(6))
POLICY = Policy(delivery_schedule=(SECOND, 5 * SECOND, 30 * SECOND), spread_percent=0, gate_deadline=10 * MINUTE)
steps = st.lists(st.tuples(st.sampled_from(JOBS), st.integers(0, 7), st.integers(0, 40)), min_size=1, max_size=60)


def crash(world: World) -> None:
    """Lose all memory and read the log; what was decided and not committed is gone, and stale waits are swept out."""
    ledger = Ledger(0, world.policy)
    encoder = PlainEncoder()
    for recorded in world.seen:
        apply(ledger, recorded, digest_of(encoder.encode(recorded)))
    ledger.timers.sweep(partial(matters, ledger))
    world.decider = BatchDecider(ledger, encoder)


def live(script: Iterable[tuple[str, int, int]], *, crashes: bool = False) -> World:
    """Let six jobs of one org live; with crashes, one before and one amid each look at what is due."""
    world = World(POLICY).org(cap=3)
    world.announce(slots=100)
    world.submit(*JOBS, destinations=(POSTGRES,), max_run_seconds=120)
    for job_id, what, tenths in script:
        _one(world, job_id, what)
        if crashes:
            crash(world)
            world.decider.timers(world.now + tenths * SECOND // 10, 1000)  # due, decided, never committed
            crash(world)
        world.after(tenths / 10)
    return world


def _one(world: World, job_id: str, what: int) -> None:
    job = world.job(job_id)
    attempt, step = job.attempt, job.resume.step
    match what:
        case 0 | 1 | 2:
            world.claim(job_id)
        case 3:
            later = RetryLater(node_id="n", try_number=2, delay_ms=700)
            world.report(later, failed_node(step, latency_ms=-5 + step), job_id=job_id, attempt=attempt)
        case 4:
            world.report(EXTRACTED, node(step, latency_ms=10**9), job_id=job_id, attempt=attempt)
        case 5:
            tried = max((each.try_number for each in job.deliveries), default=1)
            world.settle(ack(job_id, error_type="connection", rows=0, try_number=tried))
        case 6:
            world.settle(ack(job_id))
        case _:
            pass


@settings(max_examples=150, deadline=None)
@given(steps)
def test_a_decider_that_is_killed_at_every_step_records_what_one_records_that_is_not(
    script: list[tuple[str, int, int]],
) -> None:
    whole, killed = live(script), live(script, crashes=True)
    assert [(r.header.event_type, r.event, r.header.occurred_at) for r in killed.seen] == [
        (r.header.event_type, r.event, r.header.occurred_at) for r in whole.seen
    ]


@settings(max_examples=150, deadline=None)
@given(steps)
def test_no_wait_ends_early_and_each_leads_to_one_thing(script: list[tuple[str, int, int]]) -> None:
    world = live(script, crashes=True)
    due: dict[str, int] = {}
    tries: Counter[tuple[str, int, int]] = Counter()
    next_try: dict[str, int] = {}
    for recorded in world.seen:
        event, at = recorded.event, recorded.header.occurred_at
        match event:
            case RetryScheduled():
                due[event.job_id] = event.due_at
            case JobDispatched() if event.job_id in due:
                assert at >= due.pop(event.job_id)
            case DeliveryFailed():
                next_try[event.job_id] = event.next_try_at
            case DeliveryRequested():
                assert at >= next_try.pop(event.job_id, 0)
                tries[event.job_id, event.generation, event.try_number] += 1
    assert set(tries.values()) <= {1}
    attempts = Counter((r.event.job_id, r.event.attempt) for r in world.seen if isinstance(r.event, JobClaimed))
    assert set(attempts.values()) <= {1}


@settings(max_examples=100, deadline=None)
@given(steps)
def test_durations_in_the_trace_are_never_negative(script: list[tuple[str, int, int]]) -> None:
    claimed: dict[str, int] = {}
    for recorded in live(script).seen:
        event = recorded.event
        if isinstance(event, JobClaimed):
            claimed[event.job_id] = recorded.header.occurred_at
        if isinstance(event, NodeFinished):
            assert claimed[event.job_id] <= event.started_at <= event.ended_at == recorded.header.occurred_at
            assert event.latency_ms >= 0


@settings(max_examples=60, deadline=None)
@given(steps, st.integers(31, 90))
def test_every_wait_is_over_once_its_time_has_come(script: list[tuple[str, int, int]], pause: int) -> None:
    world = live(script)
    world.after(pause)  # an outage: nothing was looked at meanwhile
    now = world.now
    for job in world.ledger.jobs.values():
        assert not (job.status.value == "waiting_retry" and job.run.retry_due_at <= now and not job.task_out) or (
            world.ledger.orgs["acme"].in_flight == 3
        )
        for delivery in job.deliveries:
            assert not (job.delivers(delivery) and 0 < delivery.next_try_at <= now and delivery.state.name == "WAITING")
    assert all(timer.due_at > now for timer in world.ledger.timers)
