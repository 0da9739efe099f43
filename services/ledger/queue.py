"""The jobs of one org that want a slot: due retries first, then by priority, then in order of submission.

Nothing is looked up and removed in here when a job leaves: an entry counts for as long as the job itself says that it
waits, and is dropped when it is met. So a waiting job costs one reference, and its place follows from the jobs alone.
"""

import heapq
from collections import OrderedDict, deque
from collections.abc import Iterator, Mapping

from services.ledger.job import Job


class OrgQueue:
    """The waiting jobs of one org and kind, as ids."""

    __slots__ = ("_back", "_due", "_fresh", "_waiting")

    def __init__(self) -> None:
        self._due: OrderedDict[str, None] = OrderedDict()  # deferred retries whose time has come
        self._back: list[tuple[int, int, str]] = []  # heap of released jobs: they were submitted before the fresh ones
        self._fresh: dict[int, deque[str]] = {}  # by priority: jobs that were never dispatched
        self._waiting = 0

    def __len__(self) -> int:
        return self._waiting + len(self._due)

    def add(self, job: Job) -> None:
        """A job began to wait for a slot."""
        self._waiting += 1
        priority = job.terms.priority
        if job.dispatch:
            heapq.heappush(self._back, (-priority, job.submitted_at, job.job_id))
        else:
            self._fresh.setdefault(priority, deque()).append(job.job_id)

    def leave(self) -> None:
        """A job that was added was dispatched, or has ended."""
        self._waiting -= 1

    def make_due(self, job_id: str) -> None:
        """A deferred retry became due."""
        self._due.setdefault(job_id)

    def leave_due(self, job_id: str) -> None:
        """A retry is not deferred any more: dispatched or ended."""
        self._due.pop(job_id, None)

    def first(self, jobs: Mapping[str, Job]) -> Job | None:
        """Return the job that takes the next free slot."""
        if self._due:
            return jobs[next(iter(self._due))]
        back, fresh = self._first_back(jobs), self._first_fresh(jobs)
        if back is None or (fresh is not None and fresh.terms.priority > back.terms.priority):
            return fresh
        return back

    def in_order(self, jobs: Mapping[str, Job]) -> Iterator[str]:
        """Yield the ids of all waiting jobs, the one that goes first first."""
        yield from self._due
        back = [entry for entry in sorted(set(self._back)) if _waits(jobs.get(entry[2]), again=True)]
        for priority in sorted({-entry[0] for entry in back} | self._fresh.keys(), reverse=True):
            yield from (job_id for negative, _, job_id in back if -negative == priority)
            yield from (job_id for job_id in self._fresh.get(priority, ()) if _waits(jobs.get(job_id), again=False))

    def _first_back(self, jobs: Mapping[str, Job]) -> Job | None:
        while self._back:
            job = jobs.get(self._back[0][2])
            if _waits(job, again=True):
                return job
            heapq.heappop(self._back)
        return None

    def _first_fresh(self, jobs: Mapping[str, Job]) -> Job | None:
        while self._fresh:
            priority = max(self._fresh)
            line = self._fresh[priority]
            while line:
                job = jobs.get(line[0])
                if _waits(job, again=False):
                    return job
                line.popleft()
            del self._fresh[priority]
        return None


def _waits(job: Job | None, *, again: bool) -> bool:
    """Whether an entry still counts: the job waits, and for its first or another dispatch as when it was added."""
    return job is not None and job.queued and (job.dispatch > 0) is again
