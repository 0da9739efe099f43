"""When a process that died is started again: after a pause that doubles, and is forgotten after a quiet time."""

FIRST_PAUSE_SECONDS = 0.25
LONGEST_PAUSE_SECONDS = 10.0
QUIET_SECONDS = 60.0


class Restarts:
    """The restarts of one process; all times are readings of one monotonic clock, in seconds."""

    def __init__(self) -> None:
        self.count = 0
        self._pause = FIRST_PAUSE_SECONDS
        self._due: float | None = None
        self._last_start = float("-inf")

    @property
    def is_waiting(self) -> bool:
        """Whether a restart is planned."""
        return self._due is not None

    def died(self, now: float) -> None:
        """Plan the next start."""
        if now - self._last_start > QUIET_SECONDS:
            self._pause = FIRST_PAUSE_SECONDS
        self._due = now + self._pause
        self._pause = min(2 * self._pause, LONGEST_PAUSE_SECONDS)

    def is_due(self, now: float) -> bool:
        """Whether the planned start may happen."""
        return self._due is not None and now >= self._due

    def started(self, now: float) -> None:
        """Note a restart."""
        self.count += 1
        self._due = None
        self._last_start = now
