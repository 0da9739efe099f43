"""The schedules as the scheduler sees them: which are due, what they submit, and how far each has been fired."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from api.config import schedules
from api.config.schedules import DueSchedule, Schedule
from api.config.store import Pool
from api.schedules.work import submitted
from services.ledger.commands import SubmitJobs
from services.runtime.networks import Networks
from services.runtime.shredding.store import JobKeys


@dataclass(frozen=True, slots=True)
class Look:
    """What is due at a moment: some of each partition that was asked about, orgs by turns, the longest due first."""

    now: datetime
    due: Sequence[DueSchedule]
    overdue: int  # all that are due, of all partitions


class Book(Protocol):
    """Where schedules stand."""

    async def look(self, busy: Collection[int]) -> Look:
        """Return what is due now in partitions other than these."""

    async def submission(self, schedule: DueSchedule, asks: Mapping[str, Any], due_at: int) -> SubmitJobs:
        """Return what a schedule submits now for a due time (microseconds), or raise Problem or KeysAway."""

    async def advance(self, schedule: Schedule, next_run_at: datetime | None) -> None:
        """Note that the ledger has what was due before a time, unless somebody set the schedule anew meanwhile."""


class StoredBook:
    """The schedules in Postgres."""

    def __init__(self, pool: Pool, keys: JobKeys, *, allowed: Networks) -> None:
        self._pool, self._keys, self._allowed = pool, keys, allowed

    async def look(self, busy: Collection[int]) -> Look:
        """Return what is due now in partitions other than these."""
        return Look(*await schedules.due(self._pool, busy))

    async def submission(self, schedule: DueSchedule, asks: Mapping[str, Any], due_at: int) -> SubmitJobs:
        """Return what a schedule submits now for a due time (microseconds), or raise Problem or KeysAway."""
        allowed = self._allowed
        return await submitted(self._pool, self._keys, schedule, asks, allowed=allowed, due_at=due_at)

    async def advance(self, schedule: Schedule, next_run_at: datetime | None) -> None:
        """Note that the ledger has what was due before a time, unless somebody set the schedule anew meanwhile."""
        await schedules.advance(self._pool, schedule, next_run_at)
