"""The jobs of one org that want a slot: due retries first, then by priority, then in order of submission.

Each workflow has lines of its own, and the queue knows the front of each. So a workflow that is paused costs nothing:
its fronts are passed over once, and its jobs stand where they stood when it is resumed.
"""

import heapq
from collections.abc import Iterator, Mapping, Set
from typing import Literal

from services.ledger.job import Job
from services.ledger.line import (
    DROPPED_AT_LEAST,
    DUE,
    FreshLine,
    Place,
    SortedLine,
    due_place,
    fresh_place,
    released_place,
)

# By what is in them: retries that are due, jobs that lost their worker, and of each priority those that never ran.
LineName = Literal["due", "released"] | int
Line = FreshLine | SortedLine


class Share:
    """What one workflow has in the queue of its org."""

    __slots__ = ("left", "lines", "waiting")

    def __init__(self) -> None:
        self.lines: dict[LineName, Line] = {}
        self.waiting = 0
        self.left = 0  # jobs that left since its lines were swept


class OrgQueue:
    """The waiting jobs of one org and kind, as ids."""

    __slots__ = ("_due", "_fronts", "_paused", "_shares", "_waiting", "open")

    def __init__(self, paused: Set[str] = frozenset()) -> None:
        self._paused = paused  # workflows of the org; whoever changes it says so by `pause` or `resume`
        self._shares: dict[str, Share] = {}  # by workflow
        self._fronts: list[tuple[Place, str, LineName]] = []  # heap: of each line that is not paused
        self._due: dict[str, int] = {}  # deferred retries whose time has come, and when it had
        self._waiting = 0
        self.open = 0  # how many wait whose workflow is not paused

    def __len__(self) -> int:
        return self._waiting

    @property
    def entries(self) -> int:
        """How many entries its lines hold, those of jobs that have left among them."""
        return sum(len(line) for share in self._shares.values() for line in share.lines.values())

    def add(self, job: Job) -> None:
        """A job began to wait for a slot."""
        workflow, priority = job.terms.workflow_id, job.terms.priority
        if job.dispatch:
            self._add_sorted(workflow, "released", released_place(job))
        else:
            line = self._share(workflow).lines.get(priority)
            if line is None:
                line = self._shares[workflow].lines[priority] = FreshLine()
            assert isinstance(line, FreshLine)
            line.add(job.job_id)
            if line.listed is None:
                self._list(workflow, priority, line, fresh_place(job))
        self._count(workflow, 1)

    def leave(self, job: Job, jobs: Mapping[str, Job]) -> None:
        """A job that was added was dispatched, or has ended."""
        self._count(job.terms.workflow_id, -1)
        self._sweep(job.terms.workflow_id, jobs)

    def make_due(self, job: Job) -> None:
        """A deferred retry became due."""
        if job.job_id in self._due:
            return
        self._due[job.job_id] = due_at = job.run.retry_due_at
        self._add_sorted(job.terms.workflow_id, "due", due_place(job.job_id, due_at))
        self._count(job.terms.workflow_id, 1)

    def leave_due(self, job: Job, jobs: Mapping[str, Job]) -> None:
        """A retry is not deferred any more: dispatched or ended."""
        if self._due.pop(job.job_id, None) is not None:
            self._count(job.terms.workflow_id, -1)
            self._sweep(job.terms.workflow_id, jobs)

    def pause(self, workflow_id: str) -> None:
        """A workflow is among the paused ones now."""
        share = self._shares.get(workflow_id)
        self.open -= share.waiting if share else 0

    def resume(self, workflow_id: str) -> None:
        """A workflow is not among the paused ones any more: its lines are looked at again."""
        share = self._shares.get(workflow_id)
        if share is None:
            return
        self.open += share.waiting
        for name, line in share.lines.items():
            if line.listed is not None:
                heapq.heappush(self._fronts, (line.listed, workflow_id, name))

    def first(self, jobs: Mapping[str, Job]) -> Job | None:
        """Return the job that takes the next free slot."""
        while self._fronts:
            place, workflow, name = self._fronts[0]
            line = self._line(workflow, name)
            if workflow in self._paused or line is None or line.listed != place:
                heapq.heappop(self._fronts)
                continue
            front = self._front(line, jobs)
            if front == place:
                return jobs[place.job_id]
            line.listed = front
            if front is not None:
                heapq.heapreplace(self._fronts, (front, workflow, name))
                continue
            heapq.heappop(self._fronts)
            self._close(workflow, name)
        return None

    def in_order(self, jobs: Mapping[str, Job], *, paused: bool = False) -> Iterator[str]:
        """Yield the ids of the waiting jobs, the one that goes first first; of paused workflows where these are asked.

        The first ones cost no more where many wait.
        """
        lines = (
            line
            for workflow, share in self._shares.items()
            if (workflow in self._paused) is paused
            for line in share.lines.values()
        )
        return (place.job_id for place in heapq.merge(*(self._places(line, jobs) for line in lines)))

    def _count(self, workflow: str, change: int) -> None:
        share = self._share(workflow)
        share.waiting += change
        self._waiting += change
        if workflow not in self._paused:
            self.open += change

    def _sweep(self, workflow: str, jobs: Mapping[str, Job]) -> None:
        """Sweep the lines of a workflow once as many jobs have left as wait: while it is paused none comes in front."""
        share = self._share(workflow)
        share.left += 1
        if share.left < DROPPED_AT_LEAST or share.left <= share.waiting:
            return
        share.left = 0
        for line in share.lines.values():
            if isinstance(line, FreshLine):
                line.sweep(lambda job_id: _fresh(jobs.get(job_id)))
            else:
                line.sweep(lambda place: self._of(place, jobs))

    def _share(self, workflow: str) -> Share:
        share = self._shares.get(workflow)
        if share is None:
            share = self._shares[workflow] = Share()
        return share

    def _line(self, workflow: str, name: LineName) -> Line | None:
        share = self._shares.get(workflow)
        return share.lines.get(name) if share else None

    def _add_sorted(self, workflow: str, name: LineName, place: Place) -> None:
        lines = self._share(workflow).lines
        line = lines.get(name)
        if line is None:
            line = lines[name] = SortedLine()
        assert isinstance(line, SortedLine)
        line.add(place)
        if line.listed is None or place < line.listed:
            self._list(workflow, name, line, place)

    def _list(self, workflow: str, name: LineName, line: Line, place: Place) -> None:
        line.listed = place
        if workflow not in self._paused:
            heapq.heappush(self._fronts, (place, workflow, name))

    def _close(self, workflow: str, name: LineName) -> None:
        """Let go of a line that is empty, and of its workflow if it has no other."""
        share = self._shares[workflow]
        del share.lines[name]
        if not share.lines:
            del self._shares[workflow]

    def _front(self, line: Line, jobs: Mapping[str, Job]) -> Place | None:
        if isinstance(line, FreshLine):
            return line.front(lambda job_id: _fresh(jobs.get(job_id)))
        return line.front(lambda place: self._of(place, jobs))

    def _places(self, line: Line, jobs: Mapping[str, Job]) -> Iterator[Place]:
        if isinstance(line, FreshLine):
            return line.places(lambda job_id: _fresh(jobs.get(job_id)))
        return line.places(lambda place: self._of(place, jobs))

    def _of(self, place: Place, jobs: Mapping[str, Job]) -> Job | None:
        job = jobs.get(place.job_id)
        if place.rank == DUE:
            return job if self._due.get(place.job_id) == place.since else None
        return job if job is not None and job.queued and job.dispatch else None


def _fresh(job: Job | None) -> Job | None:
    """Return a job that waits for its first dispatch."""
    return job if job is not None and job.queued and not job.dispatch else None
