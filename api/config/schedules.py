"""Schedules as people set them, and the first due time of each that the ledger has not recorded.

One clock is asked for all of them, that of Postgres: an edit and a fire never disagree about what lies before them.

ScheduleChanged  the schedule is not as the caller expects it to be
OtherSchedule    the org has a schedule of this id that is set otherwise
TooMany          the org has as many schedules as it may have
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import msgspec
from psycopg import AsyncConnection
from psycopg.types.json import Jsonb

from api.config.store import Pool, execute, one, row, rows, transaction
from api.schedules.cron import first_due
from api.schedules.plan import Missed

MOST_LISTED_WORK_BYTES = 4096  # of the work of a schedule among many: 500 of them on a page come to 2 MiB
MOST_AT_ONCE = 50  # schedules of one partition that are fired before one looks again
Expected = Callable[[int], bool]  # of the version


@dataclass(frozen=True, slots=True)
class Schedule:
    """A row of config.schedules; the work is the body of a submission."""

    org_id: str
    schedule_id: str
    version: int
    name: str
    cron: str
    timezone: str
    work: dict[str, Any] | None  # None: it is one of a page, and its work is too large for that
    tags: list[str]
    missed: Missed
    enabled: bool
    next_run_at: datetime | None
    created_at: datetime
    updated_at: datetime
    project: str | None = field(default=None, kw_only=True)  # of spiders, whose runs it submits; None: of no project
    number: int = field(default=0, kw_only=True)  # the id of one of a project, as callers know it
    sealed: bytes | None = field(default=None, kw_only=True, repr=False)  # what is secret of its work


@dataclass(frozen=True, slots=True)
class DueSchedule(Schedule):
    """A schedule that is due, with the partition of its org."""

    partition: int


@dataclass(frozen=True, slots=True)
class Setting:
    """What people set about a schedule."""

    name: str
    cron: str
    timezone: str
    work: dict[str, Any]
    tags: tuple[str, ...]
    missed: Missed
    enabled: bool
    project: str | None = None
    sealed: bytes | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class TagFilter:
    """Which schedules are meant: with one of `any` at least, all of `all`, and none of `none`; all empty: every one."""

    any: tuple[str, ...] = ()
    all: tuple[str, ...] = ()
    none: tuple[str, ...] = ()

    def values(self) -> dict[str, list[str]]:
        """Return the arguments of the queries."""
        return {"any_tags": list(self.any), "all_tags": list(self.all), "no_tags": list(self.none)}


@dataclass(frozen=True, slots=True)
class OfOrg:
    """Which org has something."""

    org_id: str


@dataclass(frozen=True, slots=True)
class _Number:
    number: int


@dataclass(frozen=True, slots=True)
class _Now:
    now: datetime


class ScheduleChanged(Exception):
    """The schedule is not as the caller expects it to be; `version` is its own."""

    def __init__(self, version: int) -> None:
        super().__init__(f"version {version} is the newest")
        self.version = version


class OtherSchedule(Exception):
    """The org has a schedule of this id that is set otherwise."""


class TooMany(Exception):
    """The org has as many schedules as it may have."""


def anything(_version: int) -> bool:
    """Expect nothing."""
    return True


async def now(pool: Pool) -> datetime:
    """Return the time by the clock that schedules go by."""
    async with pool.connection() as connection:
        return await _now(connection)


async def next_number(pool: Pool) -> int:
    """Return a number that no other schedule ever has."""
    async with pool.connection() as connection:
        return (await one(connection, _Number, "next_schedule_number", {})).number


async def add(
    pool: Pool, org_id: str, schedule_id: str, made: Setting, most: int, *, number: int | None = None
) -> tuple[Schedule, bool]:
    """Make a schedule, due from now on if it is enabled, unless it is there; tell whether it was made now.

    Raises TooMany, or OtherSchedule.
    """
    name = {"org_id": org_id, "schedule_id": schedule_id}
    async with transaction(pool) as connection:
        await execute(connection, "lock_schedules", {"org_id": org_id})
        if found := await row(connection, Schedule, "schedule", name):
            if not _same(found, made):
                raise OtherSchedule
            return found, False
        if (await one(connection, _Number, "schedules_number", {"org_id": org_id})).number >= most:
            raise TooMany
        due = _first_due(made, await _now(connection))
        values = {**_values(made), **name, "next_run_at": due, "number": number}
        return await one(connection, Schedule, "add_schedule", values), True


async def find(pool: Pool, org_id: str, schedule_id: str) -> Schedule | None:
    """Return a schedule, or None."""
    async with pool.connection() as connection:
        return await row(connection, Schedule, "schedule", {"org_id": org_id, "schedule_id": schedule_id})


async def numbered(pool: Pool, org_id: str, number: int) -> Schedule | None:
    """Return a schedule of a project by its number, or None."""
    async with pool.connection() as connection:
        return await row(connection, Schedule, "schedule_of_number", {"org_id": org_id, "number": number})


async def org_of(pool: Pool, number: int) -> str | None:
    """Return which org has a schedule of a project: for the operator, who sees those of all."""
    async with pool.connection() as connection:
        found = await row(connection, OfOrg, "org_of_schedule", {"number": number})
        return found.org_id if found else None


async def of_projects(pool: Pool, org_ids: Sequence[str], project: str | None) -> list[Schedule]:
    """Return the schedules of all projects of some orgs, or of one project, by their numbers."""
    async with pool.connection() as connection:
        values = {"org_ids": list(org_ids), "project": project}
        return await rows(connection, Schedule, "schedules_of_projects", values)


async def page(
    pool: Pool, org_id: str, tags: TagFilter, *, enabled: bool | None, before: tuple[datetime, str], limit: int
) -> list[Schedule]:
    """Return schedules of an org, newest first, those made before a moment and id, without work that is large.

    Those of projects are not among them.
    """
    values = {"org_id": org_id, "enabled": enabled, "created_at": before[0], "schedule_id": before[1], "limit": limit}
    async with pool.connection() as connection:
        bound = {"most_work_bytes": MOST_LISTED_WORK_BYTES}
        return await rows(connection, Schedule, "schedules_page", {**values, **tags.values(), **bound})


def as_listed(schedule: Schedule) -> Schedule:
    """Return a schedule as it stands on a page: without work that is large."""
    large = len(msgspec.json.encode(schedule.work)) > MOST_LISTED_WORK_BYTES
    return replace(schedule, work=None) if large else schedule


async def change(
    pool: Pool, org_id: str, schedule_id: str, made: Setting, expected: Expected = anything
) -> Schedule | None:
    """Setting a schedule anew; None where there is none. Raises ScheduleChanged.

    With another cron or timezone, or enabled again, it is due from now on: due times before are forgotten.
    """
    async with transaction(pool) as connection:
        found = await _locked(connection, org_id, schedule_id, expected)
        if found is None or _same(found, made):
            return found
        goes_on = found.enabled and (found.cron, found.timezone) == (made.cron, made.timezone)
        due = found.next_run_at if goes_on and made.enabled else _first_due(made, await _now(connection))
        values = {**_values(made), "org_id": org_id, "schedule_id": schedule_id, "next_run_at": due}
        return await one(connection, Schedule, "change_schedule", values)


async def switch(
    pool: Pool, org_id: str, schedule_id: str, *, enabled: bool, expected: Expected = anything
) -> Schedule | None:
    """Let a schedule fire or not; None where there is none. Raises ScheduleChanged. Safe to repeat."""
    async with transaction(pool) as connection:
        found = await _locked(connection, org_id, schedule_id, expected)
        if found is None or found.enabled is enabled:
            return found
        due = first_due(found.cron, found.timezone, await _now(connection)) if enabled else None
        values = {"org_id": org_id, "schedule_id": schedule_id, "enabled": enabled, "next_run_at": due}
        return await one(connection, Schedule, "switch_schedule", values)


async def delete(pool: Pool, org_id: str, schedule_id: str, expected: Expected = anything) -> bool:
    """Delete a schedule; whether there was one. Raises ScheduleChanged."""
    async with transaction(pool) as connection:
        if await _locked(connection, org_id, schedule_id, expected) is None:
            return False
        await execute(connection, "delete_schedule", {"org_id": org_id, "schedule_id": schedule_id})
        return True


async def due(pool: Pool, busy: Collection[int]) -> tuple[datetime, list[DueSchedule], int]:
    """Return the time, what is due of each partition but the busy ones, and how many are due in all.

    Orgs have turns, each with what is longest due of it: none waits behind many of another one, or behind some that
    are due for ever since nothing can be submitted of them.
    """
    async with pool.connection() as connection:
        now = await _now(connection)
        overdue = (await one(connection, _Number, "overdue_schedules", {"now": now})).number
        values = {"now": now, "busy": list(busy), "most": MOST_AT_ONCE}
        return now, await rows(connection, DueSchedule, "due_schedules", values) if overdue else [], overdue


async def advance(pool: Pool, schedule: Schedule, next_run_at: datetime | None) -> None:
    """Note up to where the ledger has the due times of a schedule, unless it was set anew or moved on meanwhile."""
    values = {"org_id": schedule.org_id, "schedule_id": schedule.schedule_id, "version": schedule.version}
    async with pool.connection() as connection:
        await execute(
            connection, "advance_schedule", {**values, "was": schedule.next_run_at, "next_run_at": next_run_at}
        )


def _first_due(made: Setting, now: datetime) -> datetime | None:
    return first_due(made.cron, made.timezone, now) if made.enabled else None


def _same(found: Schedule, made: Setting) -> bool:
    return all(getattr(found, name) == value for name, value in _plain(made).items())


def _plain(made: Setting) -> dict[str, Any]:
    return {name: getattr(made, name) for name in made.__slots__} | {"tags": list(made.tags)}


def _values(made: Setting) -> dict[str, Any]:
    return _plain(made) | {"work": Jsonb(made.work)}


async def _now(connection: AsyncConnection[Any]) -> datetime:
    return (await one(connection, _Now, "now", {})).now


async def _locked(
    connection: AsyncConnection[Any], org_id: str, schedule_id: str, expected: Expected
) -> Schedule | None:
    found = await row(connection, Schedule, "lock_schedule", {"org_id": org_id, "schedule_id": schedule_id})
    if not expected(found.version if found else 0):
        raise ScheduleChanged(found.version if found else 0)
    return found
