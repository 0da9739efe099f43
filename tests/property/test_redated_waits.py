"""A snapshot that was made under other settings leads to the waits that a fold of the whole log would have."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from schemas.events import AnyEvent, DeliveryRequested, DeliveryWaived, JobDispatched, JobFailed
from schemas.values import OnExhausted
from services.decider.batch import BatchDecider
from services.ledger.policy import MINUTE, SECOND, Policy
from services.ledger.record import digest_of
from services.ledger.snapshot import Rebuild, parts_of
from services.ledger.state import Ledger
from tests.property.test_snapshots import Fold, folded
from tests.property.test_timer_rules import POLICY, live, steps
from tests.unit.ledger.world import POSTGRES, PlainEncoder, World, ack

OTHERS = (
    Policy(delivery_resend=90 * SECOND, spread_percent=0, gate_deadline=20 * MINUTE, dispatch_resend=70 * SECOND),
    Policy(delivery_resend=5 * SECOND, spread_percent=0, gate_deadline=2 * MINUTE, dispatch_resend=4 * SECOND),
    Policy(delivery_resend=30 * SECOND, spread_percent=50, gate_deadline=10 * MINUTE, delivery_resend_cap=40 * SECOND),
)


def log_of(world: World) -> Fold:
    """Return what a world has recorded, with its hashes."""
    encoder = PlainEncoder()
    return [(recorded, digest_of(encoder.encode(recorded))) for recorded in world.seen]


def restored(log: Fold, before: Policy, now: Policy) -> Ledger:
    """Return the state that a snapshot of before leads to now."""
    rebuild = Rebuild(0, now)
    for part in parts_of(folded(log, Ledger(0, before))):
        rebuild.add(part)
    return rebuild.ledger


def future(ledger: Ledger, now: int, *, minutes: int = 25) -> list[tuple[int, AnyEvent]]:
    """Let time pass second by second, and return what becomes due when."""
    decider = BatchDecider(ledger, PlainEncoder())
    came: list[tuple[int, AnyEvent]] = []
    for second in range(minutes * 60):
        decider.timers(now + second * SECOND, 1000)
        came += [(second, stored.recorded.event) for stored in decider.take().events]
    return came


@settings(max_examples=25, deadline=None)
@given(steps, st.sampled_from(OTHERS))
def test_what_becomes_due_after_a_restore_is_what_the_whole_log_leads_to(
    script: list[tuple[str, int, int]], other: Policy
) -> None:
    world = live(script)
    log = log_of(world)
    begun, whole = restored(log, POLICY, other), folded(log, Ledger(0, other))
    assert future(begun, world.now, minutes=4) == future(whole, world.now, minutes=4)


def extracted() -> World:
    """A job that waits for the ACK of its only destination, which has a deadline."""
    place = replace(POSTGRES, on_exhausted=OnExhausted.WAIVE)
    return World(POLICY).extracted(destinations=(place,))


@pytest.mark.parametrize("minutes", [2, 20])
def test_the_deadline_of_the_gate_is_that_of_the_setting_of_now(minutes: int) -> None:
    world = extracted()
    other = Policy(spread_percent=0, gate_deadline=minutes * MINUTE, delivery_resend=60 * MINUTE)
    verdicts = [
        (at, event)
        for at, event in future(restored(log_of(world), POLICY, other), world.now)
        if isinstance(event, DeliveryWaived | JobFailed)
    ]
    assert [at for at, _ in verdicts] == [minutes * 60]


@pytest.mark.parametrize("seconds", [7, 90])
def test_a_delivery_that_nobody_answers_is_sent_again_after_the_setting_of_now(seconds: int) -> None:
    world = extracted()
    other = Policy(spread_percent=0, delivery_resend=seconds * SECOND)
    came = future(restored(log_of(world), POLICY, other), world.now)
    first = next(at for at, event in came if isinstance(event, DeliveryRequested))
    assert first == seconds


@pytest.mark.parametrize("seconds", [7, 90])
def test_a_task_that_nobody_claims_is_sent_again_after_the_setting_of_now(seconds: int) -> None:
    world = World(POLICY).org()
    world.submit()
    other = Policy(spread_percent=0, dispatch_resend=seconds * SECOND)
    came = future(restored(log_of(world), POLICY, other), world.now, minutes=2)
    assert next(at for at, event in came if isinstance(event, JobDispatched)) == seconds


def test_what_was_answered_waits_for_nothing_under_any_setting() -> None:
    world = extracted()
    world.settle(ack())
    assert future(restored(log_of(world), POLICY, OTHERS[1]), world.now, minutes=5) == []
