"""Dated waits of a partition: a heap that is derived from the jobs, whose stale entries are skipped when due."""

import heapq
from typing import Literal, NamedTuple

TimerKind = Literal["retry", "dispatch", "delivery", "deadline"]


class Timer(NamedTuple):
    """Something to look at again. Whether it still matters is asked of the job when it is due."""

    due_at: int  # microseconds UTC
    kind: TimerKind
    job_id: str
    detail: str  # dispatch number, or destination id


class Timers:
    """All dated waits of one partition."""

    __slots__ = ("_heap",)

    def __init__(self) -> None:
        self._heap: list[Timer] = []

    def __len__(self) -> int:
        return len(self._heap)

    def set(self, timer: Timer) -> None:
        """Remember a wait."""
        heapq.heappush(self._heap, timer)

    def pop_due(self, now: int) -> Timer | None:
        """Take out the earliest wait that is over, if there is one."""
        if self._heap and self._heap[0].due_at <= now:
            return heapq.heappop(self._heap)
        return None

    def next_due_at(self) -> int | None:
        """When the earliest wait is over."""
        return self._heap[0].due_at if self._heap else None
