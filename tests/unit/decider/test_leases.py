"""The clock of leases counts silence, not outages."""

from services.decider.leases import Hearing, LeaseClock
from services.ledger.policy import SECOND, Policy
from services.runtime.errors import BrokerFault

POLICY = Policy(heartbeat=10 * SECOND, lease=30 * SECOND)
MINUTE = 60 * SECOND


def look(clock: LeaseClock, start: int, end: int, boot_id: str = "w") -> int:
    """Look every 2.5 s from start to end (seconds); return when the worker was found silent, 0: never."""
    for at in range(start * 10, end * 10 + 1, 25):
        clock.advance(at * SECOND // 10)
        if clock.silent([boot_id]):
            return at // 10
    return 0


def test_a_worker_that_is_silent_for_longer_than_its_lease_is_named_within_a_look() -> None:
    clock = LeaseClock(POLICY, 0)
    clock.heard("w")
    assert 30 <= look(clock, 0, 60) <= 33


def test_a_sign_of_life_begins_the_lease_again() -> None:
    clock = LeaseClock(POLICY, 0)
    clock.heard("w")
    assert look(clock, 0, 29) == 0
    clock.heard("w")
    assert look(clock, 30, 58) == 0


def test_an_outage_of_any_length_counts_as_half_a_heartbeat() -> None:
    clock = LeaseClock(POLICY, 0)
    clock.heard("w")
    assert look(clock, 0, 20) == 0
    clock.advance(3600 * SECOND)
    assert clock.silent(["w"]) == []
    assert look(clock, 3600, 3604) == 0
    assert look(clock, 3605, 3700) > 0


def test_a_clock_that_runs_backwards_takes_nothing_from_a_lease() -> None:
    clock = LeaseClock(POLICY, 100 * SECOND)
    clock.heard("w")
    clock.advance(0)
    assert look(clock, 0, 29) == 0


def test_a_worker_known_from_the_log_only_has_a_full_lease() -> None:
    clock = LeaseClock(POLICY, 0)
    look(clock, 0, 20, "other")
    assert 50 <= look(clock, 20, 100, "old") <= 53


def test_after_a_restart_everybody_has_a_full_lease() -> None:
    clock = LeaseClock(POLICY, 0)
    clock.heard("w")
    assert look(clock, 0, 28) == 0
    clock.restart(28 * SECOND)
    assert look(clock, 28, 57) == 0
    assert look(clock, 58, 100) > 0


class Topic:
    """The end of a topic of commands, as a broker tells it that may be away; and how far it was read."""

    def __init__(self) -> None:
        self.away = False
        self.end_now = 0
        self.read_now = 0
        self.asked = 0

    def end(self) -> int:
        """Tell the end."""
        self.asked += 1
        if self.away:
            raise BrokerFault("silent")
        return self.end_now

    def read(self) -> int:
        """Tell how far it was read."""
        return self.read_now


def listening() -> tuple[Topic, Hearing]:
    topic = Topic()
    return topic, Hearing(POLICY, topic.end, topic.read)


def test_time_counts_up_to_the_moment_whose_end_was_read_also_while_more_comes_in_all_the_time() -> None:
    topic, hearing = listening()
    assert hearing.until(5 * SECOND) == 5 * SECOND
    topic.end_now = 100
    assert hearing.until(10 * SECOND) == 5 * SECOND
    topic.end_now, topic.read_now = 200, 99
    assert hearing.until(11 * SECOND) == 5 * SECOND
    topic.read_now = 150  # never at the end, but behind what stood there at 10 s
    assert hearing.until(12 * SECOND) == 10 * SECOND


def test_the_broker_is_asked_a_few_times_in_a_heartbeat_only() -> None:
    topic, hearing = listening()
    for tenth in range(101):
        hearing.until(MINUTE + tenth * SECOND // 10)
    assert topic.asked == 5


def test_a_clock_that_was_set_back_does_not_stop_the_looks() -> None:
    topic, hearing = listening()
    hearing.until(10 * MINUTE)
    assert hearing.until(MINUTE) == MINUTE
    assert topic.asked == 2


def test_a_broker_that_was_away_for_ten_minutes_costs_nobody_a_lease_however_late_the_first_sign_comes() -> None:
    """The workers beat every 10 s; the one that beat just before the outage may be heard 10 s after it."""
    for offset in range(0, 300, 7):  # in which tenth of a second of a lease the broker comes back
        topic, hearing = listening()
        clock = LeaseClock(POLICY, 0)
        clock.heard("w")
        topic.away = True
        back = 6000 + offset
        for tenth in range(back + 110):
            now = tenth * SECOND // 10
            topic.away = tenth < back
            try:
                clock.advance(hearing.until(now))
            except BrokerFault:
                clock.restart(now)
                continue
            assert clock.silent(["w"]) == [], (offset, tenth)
