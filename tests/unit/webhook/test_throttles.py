"""Endpoints that ask for less get less: a pause, then one call, then more with every success."""

from dataclasses import dataclass

import pytest

from services.writers.webhook.throttles import (
    FIRST_PAUSE_SECONDS,
    FORGOTTEN_SECONDS,
    LONGEST_PAUSE_SECONDS,
    SPREAD,
    Throttles,
)


@dataclass
class Clock:
    """Time as the test has it, and which part of the spread is added."""

    now: float = 1000.0
    part: float = 0.0

    def throttles(self) -> Throttles:
        return Throttles(calls=4, waiting=50, waiting_throttled=5, now=lambda: self.now, part=lambda: self.part)


def test_an_endpoint_is_not_called_until_the_time_that_it_named_and_others_are() -> None:
    clock = Clock()
    throttles = clock.throttles()
    assert throttles.refused("a", 30.0) == 30.0
    assert (throttles.calls("a"), throttles.room("a"), throttles.calls("b"), throttles.room("b")) == (0, 5, 4, 50)
    clock.now += 29.9
    assert throttles.calls("a") == 0
    clock.now += 0.2
    assert (throttles.calls("a"), throttles.pause_seconds("a")) == (1, 0.0)


def test_of_two_times_that_it_named_the_later_one_holds_in_either_order() -> None:
    clock = Clock()
    throttles = clock.throttles()
    for name, asked in (("a", (30.0, 1.0)), ("b", (1.0, 30.0)), ("c", (30.0, None))):
        assert [throttles.refused(name, each) for each in asked][-1] == 30.0
    clock.now += 29.0
    assert [throttles.calls(name) for name in "abc"] == [0, 0, 0]


def test_it_opens_up_one_call_with_each_success_until_nothing_is_left_of_it() -> None:
    clock = Clock()
    throttles = clock.throttles()
    throttles.refused("a", 1.0)
    throttles.succeeded("a")  # a call that was under way before the pause says nothing about afterwards
    clock.now += 2
    seen = [throttles.calls("a")]
    for _ in range(3):
        throttles.succeeded("a")
        seen.append(throttles.calls("a"))
    assert seen == [1, 2, 3, 4]
    assert (throttles.throttled(), throttles.room("a")) == (0, 50)


def test_refusals_without_a_time_pause_for_twice_as_long_each_and_side_by_side_count_once() -> None:
    clock = Clock()
    throttles = clock.throttles()
    pauses = []
    for _ in range(20):
        for _ in range(4):
            pause = throttles.refused("a", None)
        pauses.append(pause)
        clock.now += pause
    assert pauses[:4] == [FIRST_PAUSE_SECONDS * factor for factor in (1, 2, 4, 8)]
    assert pauses[-1] == LONGEST_PAUSE_SECONDS


@pytest.mark.parametrize("asked", [10.0, 1e9])
def test_a_pause_is_spread_and_bounded(asked: float) -> None:
    clock = Clock(part=1.0)
    throttles = clock.throttles()
    assert throttles.refused("a", asked) == pytest.approx(min(asked, LONGEST_PAUSE_SECONDS) * (1 + SPREAD))


def test_a_refusal_while_it_opens_up_begins_it_anew() -> None:
    clock = Clock()
    throttles = clock.throttles()
    throttles.refused("a", 1.0)
    clock.now += 1.5
    throttles.succeeded("a")
    assert throttles.calls("a") == 2
    throttles.refused("a", 1.0)
    clock.now += 1.5
    assert throttles.calls("a") == 1


def test_an_endpoint_that_nothing_goes_to_any_more_is_forgotten() -> None:
    clock = Clock()
    throttles = clock.throttles()
    throttles.refused("gone", 1.0)
    clock.now += FORGOTTEN_SECONDS + 10
    throttles.refused("a", 1.0)
    assert throttles.throttled() == 1
