"""Asks the ledger to fire what is due, and goes on from what it answered.

Nothing exact rests on it: a due time that is fired again, by it or by another one, leads to nothing. What it must not
do is to move a schedule on before the ledger has answered for every due time up to there.
"""

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby

import psycopg
import psycopg_pool
from msgspec.structs import replace

from api.config.schedules import DueSchedule
from api.errors import Problem
from api.schedules.cron import newest_due, next_due
from api.schedules.plan import COUNTED, Due, plan
from projections.postgres.rows import micros
from schemas.values import FireKind
from services.ledger.commands import FireSchedule, SubmitJobs
from services.ledger.replies import Done, Refused, Reply
from services.ledger.wire import COMMANDS, BadMessage
from services.runtime.commander import Asker
from services.runtime.errors import BrokerFault, KeysAway, LedgerUnavailable
from services.runtime.health import Progress
from services.runtime.ids import uuid7
from services.runtime.metrics import level, timed
from services.runtime.postgres_faults import reason_of
from services.runtime.settings import Settings
from services.scheduler.book import Book

log = logging.getLogger(__name__)
ACTOR = "scheduler"
AWAY = (LedgerUnavailable, BrokerFault, psycopg.Error, psycopg_pool.PoolTimeout)  # come again


class NoTimes(Exception):
    """When a schedule is due cannot be told by this process: its timezone or expression is unknown here."""


@dataclass(frozen=True, slots=True)
class Limits:
    """When a due time counts as missed, how many of them are made up for, and how often one looks."""

    grace: timedelta
    catch_up: int
    poll_seconds: float


def limits_of(settings: Settings) -> Limits:
    """Return the limits as the settings have them."""
    return Limits(
        timedelta(seconds=settings.schedule_grace_seconds), settings.schedule_catch_up, settings.schedule_poll_seconds
    )


class Scheduler:
    """Fires the schedules of every partition by itself: one whose decider is away holds up no other."""

    def __init__(self, book: Book, ledger: Asker, limits: Limits, progress: Progress) -> None:
        self._book, self._ledger, self._limits, self._progress = book, ledger, limits, progress
        self._busy: set[int] = set()  # partitions that a round is under way in
        self._away: dict[int, str] = {}  # why the last round of a partition came to no end
        self._unanswered: set[str] = set()  # schedules that the ledger did not answer for: others go first

    async def run(self) -> None:
        """Look again and again for what is due, until cancelled."""
        async with asyncio.TaskGroup() as rounds:
            while True:
                await self.look(rounds)
                await asyncio.sleep(self._limits.poll_seconds)

    async def look(self, rounds: asyncio.TaskGroup) -> None:
        """Begin a round in each partition where something is due, and say how it stands."""
        try:
            look = await self._book.look(self._busy)
        except AWAY as fault:
            self._progress.stalled(f"Postgres does not say what is due: {reason_of(fault)}")
            return
        for partition, due in groupby(look.due, lambda each: each.partition):
            self._busy.add(partition)
            rounds.create_task(self._round(partition, list(due), look.now))
        level("schedules_overdue", look.overdue)
        if self._away:
            partition, reason = next(iter(self._away.items()))
            self._progress.stalled(f"schedules of partition {partition} are not fired: {reason}", due=look.overdue)
        else:
            self._progress.beat(due=look.overdue)

    async def _round(self, partition: int, due: Sequence[DueSchedule], now: datetime) -> None:
        held = ""
        try:
            for schedule in sorted(due, key=lambda each: each.schedule_id in self._unanswered):
                self._unanswered.add(schedule.schedule_id)
                try:
                    await self._fire(schedule, now)
                except (KeysAway, NoTimes) as fault:  # of its org, or its own: nobody else waits for that
                    held = str(fault)
                    continue
                self._unanswered.discard(schedule.schedule_id)
        except AWAY as fault:
            held = reason_of(fault)
        finally:
            self._busy.discard(partition)
        if held:
            self._away[partition] = held
            log.warning("schedules are not fired", extra={"partition": partition, "reason": held})
        else:
            self._away.pop(partition, None)

    async def _fire(self, schedule: DueSchedule, now: datetime) -> None:
        """Have every due time up to now recorded, in order, and only then move the schedule on."""
        due, following = _times(schedule, now)
        for each in plan(due, now, schedule.missed, self._limits.grace, self._limits.catch_up):
            command = await self._command(schedule, each)
            _tell(schedule, each, await self._ledger.ask(schedule.partition, command))
        await self._book.advance(schedule, following)

    async def _command(self, schedule: DueSchedule, due: Due) -> FireSchedule:
        due_at = micros(due.due_at)
        asks = {
            "command_id": uuid7(),
            "org_id": schedule.org_id,
            "requester": self._ledger.boot_id,
            "actor": ACTOR,
            "correlation_id": f"{schedule.schedule_id}@{due_at}",
        }
        submission, refused = (None, "") if due.skipped else await self._submission(schedule, asks, due_at)
        fired = FireSchedule(
            **asks,
            schedule_id=schedule.schedule_id,
            due_at=due_at,
            how=due.how,
            due_times=due.due_times,
            before=tuple(map(micros, due.before)),
            submission=submission,
            refused=refused,
        )
        return fired if _readable(fired) else replace(fired, submission=None, refused="internal")

    async def _submission(
        self, schedule: DueSchedule, asks: dict[str, str], due_at: int
    ) -> tuple[SubmitJobs | None, str]:
        """Return what is submitted, or the code of why nothing can be: that is recorded, and nothing is tried again."""
        try:
            return await self._book.submission(schedule, asks, due_at), ""
        except Problem as problem:
            return None, problem.code
        except (*AWAY, KeysAway):
            raise
        except Exception as error:  # one schedule that we cannot read must not stop all others
            ids = {"org_id": schedule.org_id, "schedule_id": schedule.schedule_id}
            # Not the error itself: it may hold what is the customer's.
            log.error("no submission could be made of a schedule", extra={**ids, "reason": type(error).__name__})
            return None, "internal"


def _times(schedule: DueSchedule, now: datetime) -> tuple[list[datetime], datetime | None]:
    """Return the due times up to now and the first one behind it, or raise NoTimes."""
    assert schedule.next_run_at is not None
    try:
        due = newest_due(schedule.cron, schedule.timezone, schedule.next_run_at, now, COUNTED)
        return due, next_due(schedule.cron, schedule.timezone, now)
    except Exception as error:  # whoever saved it could read it: other data of timezones, another version of cron
        reason = f"nobody can tell here when schedule {schedule.schedule_id} is due: {type(error).__name__}"
        raise NoTimes(reason) from None


def _readable(command: FireSchedule) -> bool:
    """Whether a decider can read it: one that it parks is not answered, and would be sent again and again."""
    try:
        COMMANDS.decode(COMMANDS.encode(command))
    except BadMessage:
        return False
    return True


def _tell(schedule: DueSchedule, due: Due, reply: Reply) -> None:
    said: dict[str, object] = {
        "org_id": schedule.org_id,
        "schedule_id": schedule.schedule_id,
        "due_at": due.due_at.isoformat(),
        "how": due.how.value,
    }
    match reply.body:
        case Done(job_ids=jobs, repeated=repeated):
            log.info("schedule fired", extra={**said, "jobs": len(jobs), "repeated": repeated})
            if due.how is FireKind.CRON and not repeated:
                timed("fire_seconds", max(0.0, time.time() - due.due_at.timestamp()))
        case Refused(code=code):
            log.warning("fire refused for good", extra={**said, "code": code})
        case other:
            raise RuntimeError(f"the ledger answered a fire with {type(other).__name__}")
