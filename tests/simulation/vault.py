"""Stands for the keys of jobs in Postgres, and says whether they kept what they are for."""

import asyncio
import re
from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import datetime

from projections.postgres.rows import instant
from schemas.events import JobSubmitted
from services.runtime.errors import KeysAway
from services.runtime.settings import Settings
from services.runtime.shredding.codec import JobKey, sealed
from services.runtime.shredding.vault import new_job_key
from services.runtime.time import now_micros
from tests.simulation.broker import Broker
from tests.simulation.chaos import Chaos
from tests.simulation.life import current
from tests.simulation.story import Story

# What begins a text that people wrote, or that quotes one; the ledger's own messages quote ids only.
CLEAR = (b'{"url"', b'"finalUrl"', b'{"message"', b"shop.example")
SWEPT = 0.4  # of the seeds look for keys that are left over, which takes a minute of them
OF_THE_LEDGER = re.compile(
    rb'\{"message":"(destination |stopped at its run-time limit|no worker claimed it|its worker was lost|no credits|'
    rb"its runner is gone|its runner was stopped|a report of its runner got lost)"
)


class Vault:
    """The keys, and the orgs that have erasure."""

    def __init__(self, chaos: Chaos, orgs: set[str]) -> None:
        self._chaos = chaos
        self.orgs = orgs
        self.keys: dict[JobKey, bytes] = {}
        self.touched: dict[JobKey, datetime] = {}  # when somebody last submitted, or was about to
        self._issued: dict[JobKey, bytes] = {}  # private bytes, sealed
        self.swept = chaos.random.random() < SWEPT  # whether leftovers are looked for in this seed
        self._again: set[JobKey] = set()  # submitted once more after their keys had gone
        self._swept: set[bytes] = set()  # private bytes whose keys were taken for leftovers

    def sealed(self, job: JobKey, private: bytes) -> bytes:
        """Do as the API does with a new job: it makes a key where there is none, whether there was one or not."""
        if job[0] not in self.orgs:
            return private
        if job not in self.keys:
            if job in self._issued:
                self._again.add(job)
            self.keys[job] = new_job_key()
            self._issued[job] = sealed(private, self.keys[job], job)
        self.touch([job])
        return self._issued[job]

    def touch(self, jobs: Iterable[JobKey]) -> None:
        """Do as the API does when a submission is repeated."""
        self.touched |= {job: instant(now_micros()) for job in jobs if job in self.keys}

    def sweep(self, jobs: Collection[JobKey]) -> None:
        """Destroy the keys of jobs that never were, as the scheduler says."""
        self._swept |= {self._issued[job] for job in jobs}
        self.destroy(jobs)

    def leftovers(self, jobs: Mapping[str, Story]) -> list[JobKey]:
        """Return the keys of jobs that never were, or are no more, and that somebody has to destroy."""
        gone = {job for job in self.keys if job[1] in jobs and jobs[job[1]].deleted}
        never = {job for job in self.keys if job[1] not in jobs}
        return sorted(gone | never if self.swept else gone - self._again)

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

    def verdict(self, jobs: Mapping[str, Story], submitted: Iterable[JobSubmitted], broker: Broker) -> Iterator[str]:
        """Yield keys that are there too long or too short, and what an org with erasure has in clear in any topic."""
        yield from (f"{job} never was, or is no more, and has a key" for job in self.leftovers(jobs))
        yield from (f"the key of {each.job_id} was swept" for each in submitted if each.private in self._swept)
        for name, job in jobs.items():
            has = (job.org_id, name) in self.keys
            if not has and job.org_id in self.orgs and not job.deleted:
                yield f"{name} is not deleted, and has no key"
        orgs = {org_id.encode() for org_id in self.orgs}
        for partition in broker.everything():
            for offset, entry in enumerate(partition.entries):
                text = OF_THE_LEDGER.sub(b"", entry.value)
                if entry.key in orgs and any(clear in text for clear in CLEAR):
                    yield f"{partition.topic} {partition.number}:{offset} has in clear {entry.value!r}"
