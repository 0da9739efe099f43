"""A reader that does not move is told apart from one that has nothing to read and from one that is slow."""

import pytest

from services.runtime.standstill import Standstill, StoodStill


class Clock:
    """A clock that stands still until it is moved."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_position_that_does_not_move_although_there_is_more_is_a_standstill_after_some_seconds() -> None:
    clock = Clock()
    standstill = Standstill("events", 5.0, clock)
    standstill.look({0: 10, 1: 4}, {0: 7, 1: 4})
    clock.now = 4.9
    standstill.look({0: 12, 1: 4}, {0: 7, 1: 4})
    clock.now = 5.0
    with pytest.raises(StoodStill, match="events of 1 partitions are not taken: partition 0 has stood at 7 of 12"):
        standstill.look({0: 12, 1: 4}, {0: 7, 1: 4})
    standstill.look({0: 12, 1: 4}, {0: 8, 1: 4})


def test_a_reader_that_is_slow_or_has_caught_up_does_not_stand_still() -> None:
    clock = Clock()
    standstill = Standstill("events", 5.0, clock)
    for step in range(10):
        clock.now = step * 4.0
        standstill.look({0: 100, 1: 3, 2: step}, {0: step, 1: 3, 2: step})


def test_what_had_a_reason_counts_from_the_beginning_again() -> None:
    clock = Clock()
    standstill = Standstill("records", 5.0, clock)
    standstill.look({0: 2}, {0: 1})
    standstill.forget()
    clock.now = 6.0
    standstill.look({0: 2}, {0: 1})
