"""From schedules and their fires to answers, and the cursors of their pages."""

import re
from datetime import datetime

from api import schedule_answers
from api.config.schedules import Schedule
from api.errors import invalid
from api.times import iso, iso_or_none
from projections.postgres.rows import NEVER, Fire
from projections.postgres.views import Cursor

_SEQ = re.compile(r"[1-9][0-9]{0,17}", re.ASCII)
NEWEST = 2**63 - 1
_NOT_OURS = "not a cursor of this list: pass `nextCursor` of the page before, unchanged"


def shown(schedule: Schedule, last_run_at: datetime | None) -> schedule_answers.Schedule:
    """Show a schedule."""
    return schedule_answers.Schedule(
        schedule_id=schedule.schedule_id,
        version=schedule.version,
        name=schedule.name,
        cron=schedule.cron,
        timezone=schedule.timezone,
        work=schedule.work,
        work_omitted=schedule.work is None,
        tags=schedule.tags,
        missed=schedule.missed,
        enabled=schedule.enabled,
        next_run_at=iso_or_none(schedule.next_run_at),
        last_run_at=iso_or_none(last_run_at),
        created_at=iso(schedule.created_at),
        updated_at=iso(schedule.updated_at),
    )


def fire(row: Fire) -> schedule_answers.Fire:
    """Show a fire."""
    return schedule_answers.Fire(
        due_at=iso(row.due_at),
        fired_at=iso(row.fired_at),
        how=row.how,
        outcome=row.outcome,
        code=row.code,
        due_times=row.due_times,
        job_ids=row.job_ids,
        actor=row.actor,
    )


def after(cursor: str | None) -> tuple[datetime, str]:
    """Return the moment and id that a page of schedules begins behind."""
    if cursor is None:
        return NEVER, ""
    try:
        found = Cursor.decode(cursor)
    except ValueError:
        raise invalid("cursor", _NOT_OURS) from None
    return found.submitted_at, found.job_id


def cursor_of(schedule: Schedule) -> str:
    """Return the cursor of the page behind a schedule."""
    return Cursor(schedule.created_at, schedule.schedule_id).encode()


def before(cursor: str | None) -> int:
    """Return the ordinal that a page of fires begins below."""
    if cursor is None:
        return NEWEST
    if not _SEQ.fullmatch(cursor):
        raise invalid("cursor", _NOT_OURS)
    return int(cursor)
