"""How often a destination is written to: quotas count by the day, so each block has its share of an hour."""

from collections.abc import Callable, Hashable

from services.runtime.time import monotonic

HOUR_SECONDS = 3600.0
REMEMBERED = 10_000  # destinations, beyond which those that may be written to are forgotten


class Pace:
    """Lets each destination have so many blocks an hour, evenly spread; 0: as many as come."""

    def __init__(self, blocks_an_hour: int, clock: Callable[[], float] = monotonic) -> None:
        self._apart_seconds = HOUR_SECONDS / blocks_an_hour if blocks_an_hour else 0.0
        self._clock = clock
        self._next: dict[Hashable, float] = {}

    def wait_seconds(self, name: Hashable) -> float:
        """Return how long a destination has to wait for its next block; meanwhile more comes, which goes with it."""
        return max(self._next.get(name, 0.0) - self._clock(), 0.0)

    def spent(self, name: Hashable, blocks: int) -> None:
        """Note that blocks were written, or tried: quotas count what fails, too."""
        if not self._apart_seconds or not blocks:
            return
        now = self._clock()
        if len(self._next) >= REMEMBERED:
            self._next = {each: until for each, until in self._next.items() if until > now}
        self._next[name] = max(self._next.get(name, now), now) + blocks * self._apart_seconds
