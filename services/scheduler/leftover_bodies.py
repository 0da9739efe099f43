"""Removes bodies of jobs that were deleted, or whose results have expired, which somebody stored later all the same.

A worker that was given up while it was frozen, wakes, stores a body and is killed before it reports leaves one that
nobody is asked to erase. No such job ever gets a body that is wanted, so what is found can go.
"""

import logging
from collections.abc import AsyncIterator, Collection
from pathlib import Path
from typing import Protocol

import psycopg
import psycopg_pool

from api.config.store import Pool
from services.runtime.blob import JobKey
from services.runtime.errors import BlobFault
from services.runtime.health import Progress
from services.runtime.postgres_faults import reason_of
from services.runtime.sql import blocks
from services.scheduler.read_model import reading
from services.scheduler.sweeping import again_and_again, held

SQL = blocks(Path(__file__).with_name("leftover_bodies.sql"))
GRACE_SECONDS = 3600.0  # after a deletion or purge: until then its own erasures are at work
SWEEP_SECONDS = 86_400.0  # it lists the whole store

log = logging.getLogger(__name__)


class Bodies(Protocol):
    """Where bodies are; `services.runtime.blob.BlobStore` is one."""

    def jobs(self) -> AsyncIterator[set[JobKey]]:
        """Yield the jobs that have bodies, some at a time; raise BlobFault when the store does not say."""

    async def delete_job(self, org_id: str, job_id: str) -> None:
        """Remove every body of a job; raise BlobFault when the store does not say that they are gone."""


class LeftoverBodies:
    """Looks through the whole store, a part at a time."""

    def __init__(self, pool: Pool, bodies: Bodies, progress: Progress, grace_seconds: float = GRACE_SECONDS) -> None:
        self._pool, self._bodies, self._progress = pool, bodies, progress
        self._grace_seconds = grace_seconds

    async def run(self) -> None:
        """Sweep until cancelled."""
        await again_and_again(self.sweep, SWEEP_SECONDS, self._progress)

    async def sweep(self) -> str:
        """Look at every body once; return what kept it from that, or nothing."""
        removed = 0
        try:
            async for jobs in self._bodies.jobs():
                for org_id, job_id in await self._gone(jobs):
                    await self._bodies.delete_job(org_id, job_id)
                    removed += 1
                    self._progress.beat()
                self._progress.beat()
        except (psycopg.Error, psycopg_pool.PoolTimeout, BlobFault) as error:
            return held(
                self._progress,
                "leftover bodies stay",
                f"bodies that are left over are not looked for: {reason_of(error)}",
            )
        if removed:
            log.info("leftover bodies removed", extra={"jobs": removed})
        return ""

    async def _gone(self, jobs: Collection[JobKey]) -> list[JobKey]:
        """Return those of these jobs that were deleted, or whose results have expired."""
        listed = sorted(jobs)
        values = {
            "orgs": [org_id for org_id, _ in listed],
            "jobs": [job_id for _, job_id in listed],
            "grace_seconds": self._grace_seconds,
        }
        async with reading(self._pool) as connection:
            return await (await connection.execute(SQL["gone"], values)).fetchall() if listed else []
