"""Schedules in memory, as Postgres keeps them for the scheduler."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import count
from typing import Any

from api.config.schedules import MOST_AT_ONCE, DueSchedule, Schedule
from services.ledger.commands import NewJob, SubmitJobs
from services.scheduler.book import Look

Made = Callable[[Schedule, Mapping[str, Any]], SubmitJobs]


def one_job() -> Made:
    """Return what makes submissions of one job each, whose ids never come twice."""
    numbers = count()

    def made(schedule: Schedule, asks: Mapping[str, Any]) -> SubmitJobs:
        job = NewJob(job_id=f"{schedule.schedule_id}-{next(numbers)}")
        return SubmitJobs(**asks, jobs=(job,), schedule_id=schedule.schedule_id)

    return made


@dataclass(slots=True)
class MemoryBook:
    """Schedules by id; `fault` is raised instead of an answer."""

    clock: Callable[[], datetime]
    made: Made = field(default_factory=one_job)
    schedules: dict[str, DueSchedule] = field(default_factory=dict)
    fault: Exception | None = None

    def put(self, schedule: DueSchedule) -> DueSchedule:
        """Set a schedule, as an edit does."""
        self.schedules[schedule.schedule_id] = schedule
        return schedule

    async def look(self, busy: Collection[int]) -> Look:
        """Return what is due now in partitions other than these."""
        self._fail()
        now = self.clock()
        due = [each for each in self.schedules.values() if each.next_run_at is not None and each.next_run_at <= now]
        due.sort(key=lambda each: (each.next_run_at, each.schedule_id))
        return Look(now, _by_turns(each for each in due if each.partition not in busy), len(due))

    async def submission(self, schedule: Schedule, asks: Mapping[str, Any], due_at: int) -> SubmitJobs:
        """Return what a schedule submits now."""
        self._fail()
        return self.made(schedule, asks)

    async def advance(self, schedule: Schedule, next_run_at: datetime | None) -> None:
        """Move a schedule on, unless it was set anew or moved on meanwhile."""
        self._fail()
        mine = self.schedules.get(schedule.schedule_id)
        if mine and (mine.version, mine.next_run_at) == (schedule.version, schedule.next_run_at):
            self.put(replace(mine, next_run_at=next_run_at, enabled=next_run_at is not None))

    def _fail(self) -> None:
        if self.fault:
            raise self.fault


def _by_turns(due: Iterable[DueSchedule]) -> list[DueSchedule]:
    """Return some of each partition, the orgs by turns."""
    had: Counter[str] = Counter()
    turns: list[tuple[int, DueSchedule]] = []
    for each in due:
        had[each.org_id] += 1
        turns.append((had[each.org_id], each))
    turns.sort(key=lambda turn: (turn[1].partition, turn[0]))
    places: Counter[int] = Counter()
    found = []
    for _, each in turns:
        places[each.partition] += 1
        if places[each.partition] <= MOST_AT_ONCE:
            found.append(each)
    return found
