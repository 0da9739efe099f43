"""The time of a decider: the wall clock, but never back and never slower than time passes.

Waits are dated by it. A wall clock that is set back must neither stop them nor make them last longer; one that is set
forward only lets them end early.
"""

from collections.abc import Callable

from services.ledger.policy import SECOND


class SteadyClock:
    """Tells microseconds UTC; `monotonic` tells seconds of a clock that nobody sets."""

    def __init__(self, wall: Callable[[], int], monotonic: Callable[[], float]) -> None:
        self._wall, self._monotonic = wall, monotonic
        self._apart = wall() - int(monotonic() * SECOND)

    def __call__(self) -> int:
        """Return the time now."""
        passed = int(self._monotonic() * SECOND)
        self._apart = max(self._apart, self._wall() - passed)
        return passed + self._apart
