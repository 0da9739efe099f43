"""The clock of leases counts silence, not outages."""

from services.decider.leases import LeaseClock
from services.ledger.policy import SECOND, Policy

POLICY = Policy(heartbeat=10 * SECOND, lease=30 * SECOND)


def test_a_worker_that_is_silent_for_longer_than_its_lease_is_named() -> None:
    clock = LeaseClock(POLICY, 0)
    clock.heard("w")
    for at in (10, 20, 30):
        clock.advance(at * SECOND)
        assert clock.silent(["w"]) == []
    clock.advance(31 * SECOND)
    assert clock.silent(["w"]) == ["w"]


def test_a_sign_of_life_begins_the_lease_again() -> None:
    clock = LeaseClock(POLICY, 0)
    clock.heard("w")
    for at in (15, 30):
        clock.advance(at * SECOND)
    clock.heard("w")
    clock.advance(45 * SECOND)
    assert clock.silent(["w"]) == []


def test_an_outage_of_any_length_counts_as_two_heartbeats() -> None:
    clock = LeaseClock(POLICY, 0)
    clock.heard("w")
    clock.advance(3600 * SECOND)
    assert clock.silent(["w"]) == []
    clock.advance(3611 * SECOND)
    assert clock.silent(["w"]) == ["w"]


def test_a_clock_that_runs_backwards_takes_nothing_from_a_lease() -> None:
    clock = LeaseClock(POLICY, 100 * SECOND)
    clock.heard("w")
    clock.advance(0)
    clock.advance(20 * SECOND)
    assert clock.silent(["w"]) == []


def test_a_worker_known_from_the_log_only_has_a_full_lease() -> None:
    clock = LeaseClock(POLICY, 0)
    clock.advance(20 * SECOND)
    assert clock.silent(["old"]) == []
    clock.advance(40 * SECOND)
    clock.advance(49 * SECOND)
    assert clock.silent(["old"]) == []
    clock.advance(51 * SECOND)
    assert clock.silent(["old"]) == ["old"]


def test_after_a_restart_everybody_has_a_full_lease() -> None:
    clock = LeaseClock(POLICY, 0)
    clock.heard("w")
    clock.advance(20 * SECOND)
    clock.restart()
    clock.advance(40 * SECOND)
    assert clock.silent(["w"]) == []
