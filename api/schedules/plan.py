"""Which of the due times of a schedule are fired, and how: pure, with the time as an argument.

A due time that is no older than the grace is fired as its clock says. What is older was missed, and the policy of the
schedule says what becomes of it. Every due time is accounted for: one that is not fired is recorded as skipped.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from schemas.values import FireKind

Missed = Literal["skip", "once", "all"]
COUNTED = 1_000  # due times that are looked at; of more than these the oldest are not counted


@dataclass(frozen=True, slots=True)
class Due:
    """One fire to be made, or to be recorded as skipped."""

    due_at: datetime
    how: FireKind
    before: tuple[datetime, ...] = ()  # the other due times that it stands for
    skipped: bool = False

    @property
    def due_times(self) -> int:
        """For how many due times it stands."""
        return len(self.before) + 1


def plan(due: Sequence[datetime], now: datetime, missed: Missed, grace: timedelta, most: int) -> list[Due]:
    """Return the fires that these due times (oldest first, none after now) lead to, in their order.

    `most`: how many missed due times the policy `all` makes up for, the newest; those before are skipped.
    """
    timely = [at for at in due if now - at <= grace]
    late = list(due[: len(due) - len(timely)])
    return [*_made_up(late, missed, most), *(Due(at, FireKind.CRON) for at in timely)]


def _made_up(late: list[datetime], missed: Missed, most: int) -> list[Due]:
    if not late:
        return []
    match missed:
        case "skip":
            return [_folded(late, skipped=True)]
        case "once":
            return [_folded(late)]
        case "all":
            before, kept = late[:-most], late[-most:]
            skipped = [_folded(before, skipped=True)] if before else []
            return [*skipped, *(Due(at, FireKind.MISSED) for at in kept)]


def _folded(due: list[datetime], *, skipped: bool = False) -> Due:
    *before, newest = due
    return Due(newest, FireKind.MISSED, tuple(before), skipped=skipped)
