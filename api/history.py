"""A job's past: its events as they stand in the log, and the job as it stood at an instant."""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from msgspec import Struct

from api import folded
from api.auth import Caller
from api.lookup import Jobs
from api.revealing import readable_entries
from projections.postgres.rows import Transition
from projections.postgres.views import JobDetail
from services.runtime.ledger_log import Entry
from services.runtime.shredding.codec import KeysOfJobs


class Instant(Struct, frozen=True):
    """A place in a job's past: a time, or a position of a partition of the log. What happened at it counts."""

    at: datetime | None = None
    partition: int = 0
    position: int = 0

    def reached_by(self, transition: Transition) -> bool:
        """Whether an event had happened by then."""
        if self.at is not None:
            return transition.occurred_at <= self.at
        return transition.position <= self.position


class EventsByPosition(Protocol):
    """Reads single events of the log; an EventLookup is one."""

    async def events(self, partition: int, positions: Sequence[int]) -> list[Entry]:
        """Return the events of these positions, which rise."""


class History:
    """The past of jobs that a caller may see. What Postgres knows of a job names the places; the log is read there."""

    def __init__(self, jobs: Jobs, log: EventsByPosition, keys: KeysOfJobs) -> None:
        self._jobs = jobs
        self._log = log
        self._keys = keys

    async def events(self, caller: Caller, job_id: str, *, after: int, limit: int) -> tuple[list[Entry], bool] | None:
        """Return a job's events behind an ordinal, and whether there are more; None: the org has no such job."""
        detail = await self._jobs.find(caller, job_id)
        if detail is None:
            return None
        later = [transition for transition in detail.transitions if transition.seq > after]
        return await self._read(detail, later[:limit]), len(later) > limit

    async def job_at(self, caller: Caller, job_id: str, instant: Instant) -> JobDetail | None:
        """Return a job as it stood at an instant; None: it did not exist, or is not the org's."""
        detail = await self._jobs.find(caller, job_id)
        if detail is None or (instant.at is None and instant.partition != detail.job.partition):
            return None
        past = [transition for transition in detail.transitions if instant.reached_by(transition)]
        if not past:
            return None
        return folded.whole([entry.recorded for entry in await self._read(detail, past) if entry.recorded])

    async def last_of(self, caller: Caller, job_id: str, event_type: str) -> Entry | None:
        """Return the newest event of a type that a job has; None: it has none, or the org has no such job."""
        detail = await self._jobs.find(caller, job_id)
        found = [each for each in detail.transitions if each.event_type == event_type] if detail else []
        return (await self._read(detail, found[-1:]))[0] if detail and found else None

    async def _read(self, detail: JobDetail, transitions: Sequence[Transition]) -> list[Entry]:
        places = [transition.position for transition in transitions]
        return await readable_entries(self._keys, await self._log.events(detail.job.partition, places))
