"""Submits the jobs of a demo over HTTP and watches them until each has ended, or the time is over."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass

from api.answers import Job
from services.cli.client import Client
from services.cli.demo_kinds import PageKind
from services.cli.demo_plan import Lot
from services.cli.kept_keys import OrgKey
from services.ledger.status import TERMINAL

POLL_SECONDS = 0.4
CALLS_AT_ONCE = 12
PATIENCE_SECONDS = 30.0  # an API that died is started again within this time

Counts = Mapping[str, Mapping[str, int]]  # org id -> state -> jobs
Tell = Callable[[Counts], None]


@dataclass(frozen=True, slots=True)
class Submitted:
    """One job of the demo and what was asked for."""

    org_id: str
    job_id: str
    url: str
    kind: PageKind | None  # None: a url of the user's, of which nothing is expected


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one job; `readable` says whether its extraction can be read, `title` is what it has as title."""

    asked: Submitted
    job: Job
    readable: bool
    title: str | None = None


class Voice:
    """One org's calls about its jobs, a few at a time."""

    def __init__(self, client: Client, places: asyncio.Semaphore) -> None:
        self.client = client
        self._places = places

    async def statuses(self, job_ids: Sequence[str]) -> dict[str, str]:
        """Return the state of each job by its id."""
        return await self.client.statuses(job_ids)

    async def jobs(self, job_ids: Sequence[str]) -> list[Job]:
        """Return everything about each job."""
        return list(await asyncio.gather(*map(self._job, job_ids)))

    async def _job(self, job_id: str) -> Job:
        async with self._places:
            return await self.client.job(job_id)


class Crew:
    """A client for each org, open for the length of a run."""

    def __init__(self, base_url: str, orgs: Sequence[OrgKey]) -> None:
        self._clients = {org.org_id: Client(base_url, org.key, PATIENCE_SECONDS) for org in orgs}
        self._stack = AsyncExitStack()
        self._places = asyncio.Semaphore(CALLS_AT_ONCE)

    async def __aenter__(self) -> "Crew":
        """Open every client."""
        for client in self._clients.values():
            await self._stack.enter_async_context(client)
        return self

    async def __aexit__(self, *_error: object) -> None:
        """Close them."""
        await self._stack.aclose()

    def voice(self, org_id: str) -> Voice:
        """Return who speaks for an org."""
        return Voice(self._clients[org_id], self._places)

    async def submit_lots(self, site: str, lots: Iterable[Lot]) -> list[Submitted]:
        """Submit every lot in a call of its own."""
        calls = [
            self.submit(lot.org_id, [site + path for path in lot.paths], lot.kind.workflow, lot.kind) for lot in lots
        ]
        return [job for jobs in await asyncio.gather(*calls) for job in jobs]

    async def submit(
        self, org_id: str, urls: Sequence[str], workflow_id: str, kind: PageKind | None
    ) -> list[Submitted]:
        """Submit a job per url for one org."""
        metadata = {"page": kind.name if kind else "own"}
        async with self._places:
            job_ids = await self._clients[org_id].submit(urls, workflow_id=workflow_id, metadata=metadata)
        return [Submitted(org_id, job_id, url, kind) for job_id, url in zip(job_ids, urls, strict=True)]

    async def watch(self, jobs: Sequence[Submitted], deadline: float, tell: Tell) -> bool:
        """Return whether all jobs had ended before `deadline` (a reading of the monotonic clock, in seconds)."""
        open_jobs = {org_id: [job.job_id for job in jobs if job.org_id == org_id] for org_id in self._clients}
        ended: dict[str, Counter[str]] = {org_id: Counter() for org_id in self._clients}
        while True:
            counts: dict[str, Counter[str]] = {}
            for org_id, job_ids in open_jobs.items():
                states = await self._clients[org_id].statuses(job_ids)
                live = Counter(state for state in states.values() if state not in TERMINAL)
                ended[org_id] += Counter(state for state in states.values() if state in TERMINAL)
                open_jobs[org_id] = [job_id for job_id in job_ids if states.get(job_id) not in TERMINAL]
                counts[org_id] = ended[org_id] + live
            tell(counts)
            if not any(open_jobs.values()):
                return True
            if time.monotonic() >= deadline:
                return False
            await asyncio.sleep(POLL_SECONDS)

    async def outcomes(self, jobs: Iterable[Submitted]) -> list[Outcome]:
        """Read what became of each job."""
        return list(await asyncio.gather(*map(self._outcome, jobs)))

    async def _outcome(self, asked: Submitted) -> Outcome:
        client = self._clients[asked.org_id]
        async with self._places:
            job = await client.job(asked.job_id)
            row = await client.extraction(asked.job_id) if job.status == "completed" else None
        data = row.normalized if row else None
        title = data.get("title") if isinstance(data, dict) else None
        return Outcome(asked, job, readable=row is not None, title=title if isinstance(title, str) else None)
