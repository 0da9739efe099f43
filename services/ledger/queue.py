"""The jobs of one org that want a slot: due retries first, then by priority, then in order of submission."""

import heapq
from collections import OrderedDict
from collections.abc import Mapping

from services.ledger.job import Job


class OrgQueue:
    """The waiting jobs of one org and kind, as ids; a heap entry whose job has left is skipped when met."""

    __slots__ = ("_due", "_fresh", "_heap", "_order")

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, int, str]] = []
        self._fresh: set[str] = set()
        self._due: OrderedDict[str, None] = OrderedDict()
        self._order = 0

    def __len__(self) -> int:
        return len(self._fresh) + len(self._due)

    def __contains__(self, job_id: str) -> bool:
        return job_id in self._fresh or job_id in self._due

    def add(self, job: Job) -> None:
        """A job began to wait for a slot."""
        self._order += 1
        self._fresh.add(job.job_id)
        heapq.heappush(self._heap, (-job.priority, job.submitted_at, self._order, job.job_id))

    def make_due(self, job_id: str) -> None:
        """A deferred retry became due."""
        self._due.setdefault(job_id)

    def discard(self, job_id: str) -> None:
        """A job stopped waiting: dispatched or ended."""
        self._fresh.discard(job_id)
        self._due.pop(job_id, None)

    def first(self, jobs: Mapping[str, Job]) -> Job | None:
        """Return the job that takes the next free slot."""
        if self._due:
            return jobs[next(iter(self._due))]
        while self._heap:
            job_id = self._heap[0][3]
            if job_id in self._fresh:
                return jobs[job_id]
            heapq.heappop(self._heap)
        return None
