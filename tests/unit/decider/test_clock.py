"""The time of a decider under a wall clock that people and programs set."""

from services.decider.clock import SteadyClock

SECOND = 1_000_000


class Clocks:
    """A wall clock that is set now and then, and one that nobody sets."""

    def __init__(self) -> None:
        self.wall = 1_800_000_000 * SECOND
        self.passed = 5 * SECOND

    def pass_time(self, micros: int) -> None:
        """Let both go on."""
        self.wall += micros
        self.passed += micros

    def steady(self) -> SteadyClock:
        """The clock under test."""
        return SteadyClock(lambda: self.wall, lambda: self.passed / SECOND)


def test_it_is_the_wall_clock_while_nobody_sets_that() -> None:
    clocks = Clocks()
    steady = clocks.steady()
    for _ in range(3):
        clocks.pass_time(7 * SECOND)
        assert steady() == clocks.wall


def test_a_wall_clock_set_back_stops_no_wait_and_makes_none_longer() -> None:
    clocks = Clocks()
    steady = clocks.steady()
    before = steady()
    clocks.wall -= 600 * SECOND
    assert steady() == before
    for seconds in (1, 2, 3):
        clocks.pass_time(SECOND)
        assert steady() == before + seconds * SECOND


def test_a_wall_clock_set_forward_is_followed_and_never_left_again() -> None:
    clocks = Clocks()
    steady = clocks.steady()
    clocks.wall += 600 * SECOND
    ahead = steady()
    assert ahead == clocks.wall
    clocks.wall -= 600 * SECOND
    clocks.pass_time(SECOND)
    assert steady() == ahead + SECOND
