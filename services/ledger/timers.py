"""Dated waits of a partition: a heap that is derived from the jobs, whose stale entries are skipped when due."""

import heapq
from collections.abc import Callable, Iterator
from typing import Literal

from msgspec import Struct

SWEEP_FROM = 10_000  # entries
TimerKind = Literal["retry", "dispatch", "delivery", "deadline", "queue", "hold"]


class Timer(Struct, frozen=True, order=True, gc=False):
    """Something to look at again. Whether it still matters is asked of the job when it is due."""

    due_at: int  # microseconds UTC
    kind: TimerKind
    job_id: str  # of a hold: its org
    detail: str  # dispatch number, destination id, or id of a hold


class Timers:
    """All dated waits of one partition."""

    __slots__ = ("_crowd", "_heap")

    def __init__(self) -> None:
        self._heap: list[Timer] = []
        self._crowd = SWEEP_FROM  # entries from which a sweep is worth it

    def __len__(self) -> int:
        return len(self._heap)

    def __iter__(self) -> Iterator[Timer]:
        return iter(self._heap)

    def set(self, timer: Timer) -> None:
        """Remember a wait."""
        heapq.heappush(self._heap, timer)

    def pop_due(self, now: int) -> Timer | None:
        """Take out the earliest wait that is over, if there is one."""
        if self._heap and self._heap[0].due_at <= now:
            return heapq.heappop(self._heap)
        return None

    @property
    def crowded(self) -> bool:
        """Whether there are twice as many as the last sweep left: whoever only folds never pops any."""
        return len(self._heap) > self._crowd

    def sweep(self, matters: Callable[[Timer], bool]) -> None:
        """Forget the waits that no longer matter."""
        self._heap = list(filter(matters, self._heap))
        heapq.heapify(self._heap)
        self._crowd = max(SWEEP_FROM, 2 * len(self._heap))
