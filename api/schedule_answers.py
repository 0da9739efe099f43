"""What callers get of schedules: one struct per answer, as in `api.answers`."""

from typing import Any

from api.answers import Answer
from api.times import Timestamp


class Schedule(Answer, frozen=True, kw_only=True):
    """A schedule; `nextRunAt` is null while it is disabled, `lastRunAt` is when it last submitted jobs.

    Among several, `work` of more than 4 KiB is null and `workOmitted` is true: read the schedule by its id.
    """

    schedule_id: str
    version: int
    name: str
    cron: str
    timezone: str
    work: dict[str, Any] | None
    work_omitted: bool
    tags: list[str]
    missed: str
    enabled: bool
    next_run_at: Timestamp | None
    last_run_at: Timestamp | None
    created_at: Timestamp
    updated_at: Timestamp


class Schedules(Answer, frozen=True, kw_only=True):
    """A page of schedules, newest first; `nextCursor` is null on the last page."""

    schedules: list[Schedule]
    next_cursor: str | None


class DeletedSchedule(Answer, frozen=True, kw_only=True):
    """A schedule that is gone; jobs that it submitted stay."""

    schedule_id: str
    deleted: bool


class Fire(Answer, frozen=True, kw_only=True):
    """One fire: when it was due, how it came about (cron, trigger, missed), and what became of it.

    `outcome` is submitted, refused (`code` says why) or skipped; `dueTimes` is how many due times it stands for.
    """

    due_at: Timestamp
    fired_at: Timestamp
    how: str
    outcome: str
    code: str | None
    due_times: int
    job_ids: list[str]
    actor: str


class Fires(Answer, frozen=True, kw_only=True):
    """A page of fires, newest first; `nextCursor` is null on the last page."""

    fires: list[Fire]
    next_cursor: str | None


class Triggered(Answer, frozen=True, kw_only=True):
    """A schedule fired now; `nextRunAt` is as it was."""

    schedule_id: str
    job_ids: list[str]


class TriggeredByTags(Answer, frozen=True, kw_only=True):
    """One of the schedules that were to be triggered; `code` says why it was refused."""

    schedule_id: str
    job_ids: list[str]
    code: str | None


class AllTriggered(Answer, frozen=True, kw_only=True):
    """Every schedule that has the tags, and what became of it."""

    schedules: list[TriggeredByTags]


class Switched(Answer, frozen=True, kw_only=True):
    """Every schedule that has the tags, as it is now."""

    schedules: list[Schedule]
