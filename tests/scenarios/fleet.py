"""A fleet of worker slots in simulated time on the real rules: it claims what is dispatched, in order, and runs it."""

import heapq
import random
from collections import deque
from dataclasses import dataclass, field

from schemas.events import JobClaimed
from services.ledger.policy import SECOND
from tests.unit.ledger.world import EXTRACTED, World, node

WAY = SECOND // 20  # from a command to the task that it leads to, and to its claim


@dataclass
class Fleet:
    """W slots; a slot that is free claims the task that has been out for longest."""

    slots: int
    run_seconds: float  # what a job takes
    spread: random.Random | None = None  # with it, runs take from half to one and a half of that
    world: World = field(default_factory=World)
    started: dict[str, float] = field(default_factory=dict)  # job -> seconds since the beginning, at its first claim
    _ends: list[tuple[int, str]] = field(default_factory=list)  # heap: when, and which job
    _out: deque[tuple[int, str]] = field(default_factory=deque)  # when its task can be claimed, and which job
    _seen: int = 0

    def __post_init__(self) -> None:
        self.world.announce(slots=self.slots)
        self.began = self.world.now

    @property
    def seconds(self) -> float:
        """Time since the beginning."""
        return (self.world.now - self.began) / SECOND

    def fill(self, *job_ids: str) -> None:
        """Let jobs that are dispatched run, their ends evenly spread over the time that one takes."""
        self._collect()
        for number, job_id in enumerate(job_ids, start=1):
            self._claim(job_id, int(self.run_seconds * SECOND * number / len(job_ids)))
        self._out = deque(each for each in self._out if each[1] not in job_ids)

    def run(self, seconds: float) -> None:
        """Let time pass."""
        until = self.world.now + int(seconds * SECOND)
        while True:
            self._collect()
            free = self.slots - len(self._ends)
            claim = max(self._out[0][0], self.world.now) if self._out and free > 0 else until + 1
            end = self._ends[0][0] if self._ends else until + 1
            if min(claim, end) > until:
                break
            self.world.now = min(claim, end)
            if end <= claim:
                self._end(heapq.heappop(self._ends)[1])
            else:
                self._claim(self._out.popleft()[1], int(self.run_seconds * SECOND * self._share()))
        self.world.now = until

    def _share(self) -> float:
        return self.spread.uniform(0.5, 1.5) if self.spread else 1.0

    def _collect(self) -> None:
        tasks = self.world.sent.tasks
        self._out += ((self.world.now + WAY, task.job_id) for task in tasks[self._seen :])
        self._seen = len(tasks)

    def _claim(self, job_id: str, micros: int) -> None:
        job = self.world.job(job_id)
        if any(isinstance(event, JobClaimed) for event in self.world.claim(job_id, org_id=job.org_id)):
            self.started.setdefault(job_id, self.seconds)
            heapq.heappush(self._ends, (self.world.now + micros, job_id))

    def _end(self, job_id: str) -> None:
        job = self.world.job(job_id)
        self.world.report(EXTRACTED, node(0), job_id=job_id, org_id=job.org_id, attempt=job.attempt)
