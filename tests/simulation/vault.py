"""Stands for the keys of jobs in Postgres, and says whether they kept what they are for."""

import asyncio
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager

from services.runtime.errors import KeysAway
from services.runtime.settings import Settings
from services.runtime.shredding.codec import JobKey, sealed
from services.runtime.shredding.vault import new_job_key
from tests.simulation.broker import Broker
from tests.simulation.chaos import Chaos
from tests.simulation.history import Story
from tests.simulation.life import current

# What begins a text that people wrote, or that quotes one; the ledger's own messages quote ids only.
CLEAR = (b'{"url"', b'"finalUrl"', b'{"message"', b"shop.example")
OF_THE_LEDGER = b'{"message":"destination '


class Vault:
    """The keys, and the orgs that have erasure."""

    def __init__(self, chaos: Chaos, orgs: set[str]) -> None:
        self._chaos = chaos
        self.orgs = orgs
        self.keys: dict[JobKey, bytes] = {}
        self._issued: dict[JobKey, bytes] = {}  # private bytes, sealed

    def sealed(self, job: JobKey, private: bytes) -> bytes:
        """Do as the API does with a new job: its key is made once, and a repeat says the same bytes."""
        if job[0] not in self.orgs:
            return private
        if job not in self._issued:
            self.keys[job] = new_job_key()
            self._issued[job] = sealed(private, self.keys[job], job)
        return self._issued[job]

    def destroy(self, jobs: Collection[JobKey]) -> None:
        """Destroy the keys of deleted jobs."""
        for job in jobs:
            self.keys.pop(job, None)

    @asynccontextmanager
    async def lent(self, _settings: Settings) -> AsyncIterator["Vault"]:
        """Lend the keys to a process."""
        yield self

    async def of(self, jobs: Collection[JobKey]) -> dict[JobKey, bytes]:
        """Return the keys of those of these jobs that have one."""
        if not jobs:
            return {}
        await self._call()
        return {job: self.keys[job] for job in jobs if job in self.keys}

    async def with_erasure(self, orgs: Sequence[str]) -> set[str]:
        """Return those of these orgs that have erasure."""
        await self._call()
        return self.orgs & set(orgs)

    async def _call(self) -> None:
        current().check()
        await asyncio.sleep(self._chaos.latency())
        current().check()
        if self._chaos.strikes("keys_away"):
            raise KeysAway("simulated")

    def verdict(self, jobs: Mapping[str, Story], broker: Broker) -> Iterator[str]:
        """Yield keys that are there too long or too short, and what an org with erasure has in clear in any topic."""
        for name, job in jobs.items():
            has = (job.org_id, name) in self.keys
            if has and job.deleted:
                yield f"{name} is deleted, and has a key"
            elif not has and job.org_id in self.orgs and not job.deleted:
                yield f"{name} is not deleted, and has no key"
        orgs = {org_id.encode() for org_id in self.orgs}
        for partition in broker.everything():
            for offset, entry in enumerate(partition.entries):
                text = entry.value.replace(OF_THE_LEDGER, b"")
                if entry.key in orgs and any(clear in text for clear in CLEAR):
                    yield f"{partition.topic} {partition.number}:{offset} has in clear {entry.value!r}"
