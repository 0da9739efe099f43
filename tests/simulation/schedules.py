"""Schedules in the traffic of a seed: kept in a book that fails, fired by schedulers that die, each due time once.

The book has a clock of its own, as Postgres has, which stands still at the end: from then on nothing comes to be due.
"""

import asyncio
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import takewhile
from typing import Any, NoReturn

import psycopg

from api.config.schedules import DueSchedule, Schedule
from api.errors import Problem
from api.schedules.cron import due_after
from api.schedules.plan import Missed
from projections.postgres.rows import micros
from schemas.events import ScheduleFired
from schemas.private import private_bytes
from schemas.values import Destination, FireKind, FireOutcome
from services.ledger.commands import NewJob, SubmitJobs
from services.runtime.topics import partition_of_org
from services.scheduler.book import Look
from tests.fakes.book import MemoryBook
from tests.simulation.chaos import Chaos
from tests.simulation.houses import Houses
from tests.simulation.vault import Vault

CRONS = ("*/3 * * * * *", "*/5 * * * * *", "1-59/7 * * * * *")
POLICIES: tuple[Missed, ...] = ("skip", "once", "all")
TABLE = (Destination(destination_id="table", kind="postgres"),)
LAST_SECONDS = 16.0  # of simulated time, behind which nothing is due


@dataclass(slots=True)
class Schedules:
    """All schedules of a seed."""

    chaos: Chaos
    vault: Vault
    houses: Houses
    partitions: int
    start_micros: int
    memory: MemoryBook = field(init=False)

    def __post_init__(self) -> None:
        self.memory = MemoryBook(self._now, self._submission)

    @property
    def until(self) -> datetime:
        """The end of the clock."""
        return self._at(LAST_SECONDS)

    def open(self, org: str) -> None:
        """Let an org, which the ledger knows by now, have a schedule perhaps; it is due from now on."""
        if f"sch-{org}" in self.memory.schedules:
            return  # the customers began anew
        random, now = self.chaos.random, self._now()
        cron = random.choice(CRONS)
        if random.random() < 0.6:
            self.memory.put(
                DueSchedule(
                    org_id=org,
                    schedule_id=f"sch-{org}",
                    version=1,
                    name="simulated",
                    cron=cron,
                    timezone="UTC",
                    work={},
                    tags=[],
                    missed=random.choice(POLICIES),
                    enabled=True,
                    next_run_at=next(due_after(cron, "UTC", now)),
                    created_at=now,
                    updated_at=now,
                    partition=partition_of_org(org, self.partitions),
                )
            )

    def quiet(self) -> bool:
        """Whether every due time is in the ledger, as the book has it."""
        return all(each.next_run_at is None or each.next_run_at > self.until for each in self.memory.schedules.values())

    def verdict(self, fires: Iterable[ScheduleFired]) -> list[str]:
        """Return what became of due times otherwise than their schedules say; the log was checked for repeats."""
        by_clock = [fire for fire in fires if fire.how is not FireKind.TRIGGER]
        return [
            f"{schedule.schedule_id} ({schedule.missed}): {what}"
            for schedule in self.memory.schedules.values()
            for what in self._of(schedule, [fire for fire in by_clock if fire.schedule_id == schedule.schedule_id])
        ]

    def _of(self, schedule: DueSchedule, fires: list[ScheduleFired]) -> Iterable[str]:
        following = due_after(schedule.cron, "UTC", schedule.created_at)
        due = [micros(at) for at in takewhile(lambda at: at <= self.until, following)]
        accounted: set[int] = set()
        for fire in fires:
            if fire.due_at not in due:
                yield f"fired for {fire.due_at}, which is no due time"
                continue
            at = due.index(fire.due_at) + 1
            stood_for = set(due[max(0, at - fire.due_times) : at])
            if again := accounted & stood_for:
                yield f"{len(again)} due times up to {fire.due_at} were told of before"
            accounted |= stood_for
            made_up = fire.how is FireKind.MISSED and fire.outcome is not FireOutcome.SKIPPED
            if made_up and (schedule.missed == "skip" or (schedule.missed == "all" and fire.due_times > 1)):
                yield f"made up for {fire.due_at} as {fire.due_times} due times"
        for at in due:
            if at not in accounted:
                yield f"nothing became of {at}"

    def _at(self, seconds: float) -> datetime:
        return datetime.fromtimestamp(self.start_micros / 1e6, UTC) + timedelta(seconds=seconds)

    def _now(self) -> datetime:
        return self._at(min(self.chaos.now(), LAST_SECONDS))

    def _submission(self, schedule: Schedule, asks: Mapping[str, Any]) -> SubmitJobs:
        if self.chaos.random.random() < 0.1:
            raise Problem("unknown_workflow", "simulated: it was deleted")
        due = asks["correlation_id"]  # which is of the due time: the same jobs, whoever makes them
        names = [f"{due}-{number}" for number in range(self.chaos.random.choice((1, 1, 2)))]
        jobs = (NewJob(job_id=name, private=self._private(schedule.org_id, name)) for name in names)
        return SubmitJobs(
            **asks,
            jobs=tuple(jobs),
            workflow_id="w",
            workflow_version=1,
            workflow_ref="workflows/short",
            destinations=TABLE + self.houses.destination(schedule.org_id),
            schedule_id=schedule.schedule_id,
        )

    def _private(self, org: str, name: str) -> bytes:
        return self.vault.sealed((org, name), private_bytes({"url": f"http://shop.example/p/{name}"}))


class Book:
    """Stands for `services.scheduler.book.StoredBook`: fails before and after a change took effect."""

    def __init__(self, schedules: Schedules) -> None:
        self._memory, self._chaos = schedules.memory, schedules.chaos

    async def look(self, busy: Collection[int]) -> Look:
        """Return what is due now in partitions other than these."""
        await self._call()
        return await self._memory.look(busy)

    async def submission(self, schedule: Schedule, asks: Mapping[str, Any], due_at: int) -> SubmitJobs:
        """Return what a schedule submits now."""
        await self._call()
        return await self._memory.submission(schedule, asks, due_at)

    async def advance(self, schedule: Schedule, next_run_at: datetime | None) -> None:
        """Move a schedule on."""
        await self._call()
        await self._memory.advance(schedule, next_run_at)
        if self._chaos.strikes("read_model_down_after"):
            self._fail()

    async def _call(self) -> None:
        await asyncio.sleep(self._chaos.latency())
        if self._chaos.strikes("read_model_down_before"):
            self._fail()

    def _fail(self) -> NoReturn:
        raise psycopg.OperationalError("simulated: the schedules are away")
