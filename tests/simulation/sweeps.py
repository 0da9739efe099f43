"""What the scheduler's sweeps see and take away: keys of jobs that never were, and bodies that came late.

Postgres is stood in for by what its statements say of the keys and of the read model; it is away at times.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

from projections.postgres.rows import Checkpoint, Job, instant
from services.runtime.blob import JobKey, _job_of
from services.runtime.errors import BlobFault
from services.runtime.time import now_micros
from services.runtime.topics import partition_of_org
from services.scheduler import leftover_archives, leftover_bodies, leftover_keys
from services.scheduler.leftover_keys import OldKey
from tests.simulation.chaos import Chaos
from tests.simulation.life import current
from tests.simulation.read_model import ReadModel
from tests.simulation.stores import Blobs

SWEEP_SECONDS = 5.0
BODY_GRACE_SECONDS = 4.0
# Longer than from the making of a key to the landing of its command: a pause of 12 s, an answer that is waited for 4 s,
# an outage in which a record is on its way for 30 s, and one that lands 9 s late.
KEY_GRACE_SECONDS = 60.0


class Sweeps:
    """Says what the sweeps' statements find, and does what they do."""

    def __init__(self, model: ReadModel, partitions: int) -> None:
        self._model, self._partitions = model, partitions
        self._vault = model.vault

    def does(self, statement: Any, values: Mapping[str, Any]) -> Sequence[Any]:
        """Do what a statement says."""
        if statement == leftover_archives.SQL["orgs_to_look_at"]:
            return []  # nobody uploads projects here
        if not values:
            return [("read_model",)]  # where the tables of the read model are found
        does = {
            leftover_keys.SQL["old_keys"]: self._old_keys,
            leftover_keys.SQL["destroy_leftovers"]: self._destroy,
            leftover_keys.SQL["reached"]: self._reached,
            leftover_bodies.SQL["gone"]: self._gone,
        }
        return does[statement](values)

    def _old_keys(self, values: Mapping[str, Any]) -> list[Any]:
        behind = values["touched_at"], values["org_id"], values["job_id"]
        keys = [
            OldKey(*job, partition_of_org(job[0], self._partitions), touched)
            for job, touched in self._vault.touched.items()
            if job in self._vault.keys and self._old(job, values) and (touched, *job) > behind
        ]
        return sorted(keys, key=lambda key: (key.touched_at, key.org_id, key.job_id))[: values["most"]]

    def _old(self, job: JobKey, values: Mapping[str, Any]) -> bool:
        return self._vault.touched[job] < instant(now_micros()) - timedelta(seconds=values["grace_seconds"])

    def _destroy(self, values: Mapping[str, Any]) -> list[Any]:
        asked = zip(values["orgs"], values["jobs"], strict=True)
        some = [job for job in asked if job in self._vault.keys and self._old(job, values)]
        some = [job for job in some if job not in self._model.jobs]
        some = some if self._reached(values) else []
        self._vault.sweep(some)
        return some

    def _reached(self, values: Mapping[str, Any]) -> list[Any]:
        number = values["partition"]
        return [True] if self._model.checkpoints.get(number, Checkpoint(number)).position >= values["position"] else []

    def _gone(self, values: Mapping[str, Any]) -> list[JobKey]:
        before = instant(now_micros()) - timedelta(seconds=values["grace_seconds"])
        return [job for job in zip(values["orgs"], values["jobs"], strict=True) if self._is_gone(job, before)]

    def _is_gone(self, job: JobKey, before: Any) -> bool:
        deleted, row = self._model.deleted.get(job), self._model.jobs.get(job)
        expired_at = row.expired_at if isinstance(row, Job) else None
        linked = (row for row in self._model.jobs.values() if row.org_id == job[0] and row.chain_id == job[1])
        if any(row.expired_at is None or row.expired_at >= before for row in linked):
            return False  # its items are those of others too
        return bool((deleted and deleted.deleted_at < before) or (expired_at and expired_at < before))


class Bodies:
    """Stands for the store of bodies as the scheduler lists it."""

    def __init__(self, blobs: Blobs, chaos: Chaos) -> None:
        self._blobs, self._chaos = blobs, chaos

    async def jobs(self) -> AsyncIterator[set[JobKey]]:
        """Yield the jobs that have bodies."""
        keys = list(self._blobs.blobs)
        for start in range(0, len(keys), 50):
            await self._call()
            yield {job for key in keys[start : start + 50] if (job := _job_of(key))}

    async def delete_job(self, org_id: str, job_id: str, spared: str = "") -> None:
        """Remove the bodies of a job."""
        await self._call()
        self._blobs.sweep((org_id, job_id))
        await self._call()

    async def _call(self) -> None:
        current().check()
        await asyncio.sleep(self._chaos.latency())
        current().check()
        if self._chaos.strikes("blob_fault"):
            raise BlobFault("simulated: the store does not say")
