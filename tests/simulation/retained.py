"""The jobs that the sweep for results past retention finds in the read model, which is away at times."""

import asyncio
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta

import psycopg

from projections.postgres.rows import Job, instant
from services.runtime.time import now_micros
from services.scheduler.retained import MODULES, Overdue
from tests.fakes.retained import MemoryRetained
from tests.simulation.chaos import Chaos
from tests.simulation.read_model import ReadModel


class Retained:
    """Stands for `services.scheduler.retained.StoredRetained`; its clock may be off by a second, as Postgres' may."""

    def __init__(self, model: ReadModel, chaos: Chaos, retention_seconds: int, whose: str) -> None:
        self._model, self._chaos, self._kept = model, chaos, timedelta(seconds=retention_seconds)
        self._modules = whose == MODULES
        self._memory = MemoryRetained(self._overdue)

    async def look(self, seen: Mapping[str, Overdue], away: Collection[int]) -> list[Overdue]:
        """Return some jobs past retention."""
        await asyncio.sleep(self._chaos.latency())
        if self._chaos.strikes("read_model_down_before"):
            raise psycopg.OperationalError("simulated: the read model is away")
        return await self._memory.look(seen, away) if self._kept else []

    def _overdue(self) -> list[Overdue]:
        now = instant(now_micros()) + timedelta(seconds=1)
        return [
            Overdue(job.org_id, job.job_id, job.partition, job.finished_at)
            for job in self._model.jobs.values()
            if isinstance(job, Job) and job.finished_at and not job.expired_at and self._is_due(job, now)
        ]

    def _is_due(self, job: Job, now: datetime) -> bool:
        of_these = (job.vocabulary == "module") is self._modules
        return of_these and job.finished_at is not None and job.finished_at <= now - self._kept
