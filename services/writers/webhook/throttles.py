"""How fast each endpoint may be called: as it asked, and after a pause one by one, then more with every success."""

import random
from collections.abc import Callable, Hashable
from dataclasses import dataclass

from services.runtime.time import monotonic

FIRST_PAUSE_SECONDS = 1.0  # where the endpoint names no time; twice as long after each further refusal
LONGEST_PAUSE_SECONDS = 3600.0  # a message may wait for longer; after this its endpoint is asked again
SPREAD = 0.1  # part of a pause that is added to it at most, so that no two writers come back at once
FORGOTTEN_SECONDS = 2 * LONGEST_PAUSE_SECONDS  # after its pause, of an endpoint that nothing was sent to since
MOST_DOUBLINGS = 12


def drawn() -> float:
    """Draw a part from 0 to 1; for a default, which bound to `random.random` itself would stay with it."""
    return random.random()  # noqa: S311


@dataclass(slots=True)
class _Throttle:
    until: float  # time of the clock
    calls: int = 1
    refusals: int = 0


class Throttles:
    """The endpoints that are called less than usual."""

    def __init__(
        self,
        *,
        calls: int,
        waiting: int,
        waiting_throttled: int,
        now: Callable[[], float] = monotonic,
        part: Callable[[], float] = drawn,
    ) -> None:
        self._calls = calls  # to one endpoint at a time
        self._waiting = waiting  # messages that may wait for one endpoint
        self._waiting_throttled = waiting_throttled
        self._now = now
        self._part = part  # from 0 to 1
        self._throttles: dict[Hashable, _Throttle] = {}

    def calls(self, name: Hashable) -> int:
        """Return how many calls may be under way to an endpoint; 0 while it is paused."""
        throttle = self._throttles.get(name)
        if throttle is None:
            return self._calls
        return 0 if throttle.until > self._now() else throttle.calls

    def room(self, name: Hashable) -> int:
        """Return how many messages may wait for an endpoint; the ledger sends the others again."""
        return self._waiting_throttled if name in self._throttles else self._waiting

    def pause_seconds(self, name: Hashable) -> float:
        """Return how long an endpoint is not called from now on."""
        throttle = self._throttles.get(name)
        return max(throttle.until - self._now(), 0.0) if throttle else 0.0

    def throttled(self) -> int:
        """Return how many endpoints are called less than usual."""
        return len(self._throttles)

    def refused(self, name: Hashable, asked_seconds: float | None) -> float:
        """Pause an endpoint that asked for it, with or without a time; return for how long from now on.

        Calls that were under way side by side are refused side by side: together they count once.
        """
        now = self._now()
        throttle = self._throttles.get(name)
        if throttle is None:
            self._forget(now)
            throttle = self._throttles[name] = _Throttle(until=now)
        if throttle.until <= now:
            throttle.refusals += 1
        throttle.calls = 1
        own = FIRST_PAUSE_SECONDS * 2 ** min(throttle.refusals - 1, MOST_DOUBLINGS)
        pause = min(own if asked_seconds is None else asked_seconds, LONGEST_PAUSE_SECONDS)
        throttle.until = max(throttle.until, now + pause * (1 + SPREAD * self._part()))
        return throttle.until - now

    def succeeded(self, name: Hashable) -> None:
        """Let one more call be under way to an endpoint that took a message; at the usual number all is forgotten."""
        throttle = self._throttles.get(name)
        if throttle is None or throttle.until > self._now():
            return
        throttle.calls += 1
        throttle.refusals = 0
        if throttle.calls >= self._calls:
            del self._throttles[name]

    def _forget(self, now: float) -> None:
        old = [name for name, each in self._throttles.items() if each.until + FORGOTTEN_SECONDS < now]
        for name in old:
            del self._throttles[name]
