"""Notices that a reader does not move although there is more to read."""

from collections.abc import Callable, Mapping

from services.runtime.errors import RuntimeFault
from services.runtime.time import monotonic

STANDSTILL_SECONDS = 5.0  # looked at every two or three seconds: red within ten


class StoodStill(RuntimeFault):
    """There is more, and nothing of it was taken for some seconds."""


class Standstill:
    """Compares where readers stand with where the log ends, look by look; `what` names what is read."""

    def __init__(self, what: str, seconds: float | None = None, clock: Callable[[], float] = monotonic) -> None:
        self._what = what
        self._seconds = STANDSTILL_SECONDS if seconds is None else seconds
        self._clock = clock
        self._since: dict[int, tuple[int, float]] = {}  # by partition: a position, and when it was first found behind

    def look(self, heads: Mapping[int, int], positions: Mapping[int, int]) -> None:
        """Raise StoodStill where a position lies behind its head and has not moved for some seconds."""
        now = self._clock()
        behind = {at: position for at, position in positions.items() if position < heads.get(at, 0)}
        moved = {at: position for at, position in behind.items() if self._since.get(at, (None, 0.0))[0] != position}
        self._since = {at: self._since[at] for at in behind if at not in moved}
        self._since |= {at: (position, now) for at, position in moved.items()}
        stuck = [at for at, (_, since) in self._since.items() if now - since >= self._seconds]
        if stuck:
            worst = min(stuck, key=lambda at: self._since[at][1])
            raise StoodStill(
                f"{self._what} of {len(stuck)} partitions are not taken: partition {worst} has stood at "
                f"{behind[worst]} of {heads[worst]} for {now - self._since[worst][1]:.0f} s"
            )

    def forget(self) -> None:
        """Begin anew: what was behind had a reason."""
        self._since.clear()
