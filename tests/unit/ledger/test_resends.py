"""After an outage what is due is sent again through a window, in line, and what is fresh goes past."""

import pytest

from schemas.events import AnyEvent, DeliveryRequested, JobFailed
from schemas.values import Destination, OnExhausted
from services.ledger.apply import apply
from services.ledger.policy import HOUR, MINUTE, SECOND, Policy
from services.ledger.record import digest_of
from services.ledger.reports import DeliveryResult
from services.ledger.stale import matters
from services.ledger.state import Ledger
from services.ledger.status import Status
from tests.unit.ledger.world import POSTGRES, World, ack

WINDOW = 10
JOBS = 200
POLICY = Policy(resend_window=WINDOW)
HOOK = Destination(destination_id="wh-1", kind="webhook", gating=False)


def backlog(policy: Policy = POLICY, jobs: int = JOBS, **place: object) -> World:
    """Jobs whose deliveries nobody answers."""
    world = World(policy)
    for number in range(jobs):
        world.extracted(f"j{number}", **place)
    return world


def sent(events: list[AnyEvent]) -> list[str]:
    """Jobs that are delivered now."""
    return [event.job_id for event in events if isinstance(event, DeliveryRequested)]


def answered(world: World, job_id: str, place: str = "internal-postgres", org_id: str = "acme") -> list[AnyEvent]:
    """Let a writer acknowledge what it has; return that and what goes out because of it."""
    delivery = world.job(job_id).delivery(place)
    assert delivery is not None
    result = DeliveryResult(org_id=org_id, job_id=job_id, destination_id=place, generation=delivery.generation)
    return [*world.settle(result), *world.after(0)]


def test_an_outage_of_an_hour_has_no_more_than_the_window_sent_again_at_a_time() -> None:
    world = backlog()
    again: set[str] = set()
    records = 0
    for _ in range(360):
        events = sent(world.after(10))
        again |= set(events)
        records += len(events)
    assert len(again) == WINDOW, "always the same few, until one is answered"
    assert records <= WINDOW * 12, "each of them later and later"
    assert world.ledger.resends.waiting == JOBS - WINDOW


def test_what_waits_drains_as_answers_come_and_what_is_fresh_goes_past() -> None:
    world = backlog()
    out = set(sent(world.after(40)))
    assert len(out) == WINDOW
    drained, rounds, most = set[str](), 0, 0
    while out:
        if rounds == 5:
            fresh = world.extracted("fresh")
            assert fresh.job("fresh").deliveries[0].try_number == 1, "it went out with its extraction"
            answered(world, "fresh")
            assert world.status("fresh") is Status.COMPLETED
            assert len(drained) < JOBS
        job_id = min(out)
        out.remove(job_id)
        drained.add(job_id)
        out |= set(sent(answered(world, job_id)))
        most, rounds = max(most, len(out)), rounds + 1
    assert most <= WINDOW
    assert drained == {f"j{number}" for number in range(JOBS)}
    assert world.ledger.resends.waiting == 0
    assert not world.ledger.resends.out


def test_a_full_window_of_one_endpoint_holds_up_no_other_place() -> None:
    world = backlog(jobs=50, destinations=(HOOK,))
    other = Destination(destination_id="wh-2", kind="webhook", gating=False)
    world.extracted("other", destinations=(other, POSTGRES))
    again = [event for event in world.after(40) if isinstance(event, DeliveryRequested)]
    assert sum(event.destination_id == "wh-1" for event in again) == WINDOW
    assert {event.destination_id for event in again if event.job_id == "other"} == {"wh-2", "internal-postgres"}


@pytest.mark.parametrize("on_exhausted", [OnExhausted.FAIL, OnExhausted.WAIVE])
def test_no_job_waits_longer_than_its_gate_because_of_the_line(on_exhausted: OnExhausted) -> None:
    place = Destination(destination_id="internal-postgres", kind="postgres", on_exhausted=on_exhausted)
    world = backlog(Policy(resend_window=1, gate_deadline=10 * MINUTE), jobs=20, destinations=(place,))
    for _ in range(11):
        world.after(60)
    ended = Status.FAILED if on_exhausted is OnExhausted.FAIL else Status.COMPLETED
    assert {world.status(f"j{number}") for number in range(20)} == {ended}
    assert sum(isinstance(recorded.event, JobFailed) for recorded in world.seen) in (0, 20)


def test_who_restores_finds_what_is_out_and_lines_up_the_rest() -> None:
    world = backlog()
    world.after(40)
    again = Ledger(0, world.policy)
    for recorded in world.seen:
        apply(again, recorded, digest_of(b""))
    assert again.resends.out == world.ledger.resends.out
    assert len(again.resends.out["", "postgres"]) == WINDOW
    world.decider.ledger = again
    assert sent(world.after(0)) == []
    assert again.resends.waiting == JOBS - WINDOW


def test_a_retry_that_is_due_goes_through_the_same_window() -> None:
    policy = Policy(resend_window=1, spread_percent=0, delivery_schedule=(SECOND, HOUR))
    world = backlog(policy, jobs=3)
    for number in range(3):
        world.settle(ack(f"j{number}", error_type="connection", rows=0))
    assert len(sent(world.after(1))) == 1
    assert world.ledger.resends.waiting == 2


def test_a_step_fires_no_more_than_its_limit_however_many_are_due() -> None:
    world = backlog(Policy(resend_window=5))
    assert world.after(30) == []  # waits for claims, which are over
    world.now += 10 * SECOND
    world.decider.timers(world.now, 20)
    assert len(list(world.decider.decided())) == 5
    assert world.ledger.resends.waiting == 15, "the others stand among the timers still"


@pytest.mark.parametrize("before_it_is_due", [True, False])
def test_a_job_that_was_cancelled_takes_no_place_in_line_and_leaves_no_wait(before_it_is_due: bool) -> None:
    world = backlog(Policy(resend_window=1, spread_percent=0), jobs=3)
    if before_it_is_due:
        world.cancel("j2")
    world.after(40)
    world.cancel("j2")
    assert world.ledger.resends.waiting == (1 if before_it_is_due else 2)
    assert not [each for each in world.ledger.timers if each.job_id == "j2" and matters(world.ledger, each)]
    if before_it_is_due:
        assert not [each for each in world.ledger.timers if each.job_id == "j2"]
    for job_id in ("j0", "j1"):
        answered(world, job_id)
        assert world.status(job_id) is Status.COMPLETED
    assert world.ledger.resends.waiting == 0
    assert "DeliveryRequested" not in world.types("j2")[world.types("j2").index("JobCancelled") :]
