"""Jobs over HTTP: one at a time, as many as there are at once, and at a steady rate; each waited for to its end."""

import asyncio
import itertools
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

import msgspec

from api.answers import JobSummary
from services.cli.client import Client
from services.cli.demo_workflows import plain_workflow
from services.cli.spans import milliseconds_between
from services.ledger.status import TERMINAL

WORKFLOW = "bench"
ORG_CAP = 10_000  # jobs of one org in flight: the bench measures the ledger, not its caps
URLS_PER_CALL = 50
CALLS_AT_ONCE = 8
LOOK_SECONDS = 0.02  # between two looks at a single job
PAGE_LIMIT = 500
POLL_SECONDS = 0.5  # between two looks at many
PATIENCE_SECONDS = 600.0


class NotCompleted(Exception):
    """A job of the bench ended otherwise, or not in time: the figures would mean nothing."""


@dataclass(frozen=True, slots=True)
class Caller:
    """An org, a client that speaks for it, and pages that it has not asked for yet."""

    client: Client
    pages: Iterator[str]

    def take(self, count: int) -> list[str]:
        """Return the urls of the next pages."""
        return list(itertools.islice(self.pages, count))


Load = list[tuple[Caller, list[str]]]  # job ids, by the caller that submitted them


@asynccontextmanager
async def callers(base_url: str, operator_key: str, site: str, count: int) -> AsyncIterator[list[Caller]]:
    """Register so many orgs with a workflow each and lend a caller per org."""
    numbers = itertools.count()
    pages = (f"{site}/product/{number}" for number in numbers)
    async with AsyncExitStack() as stack:
        operator = await stack.enter_async_context(Client(base_url, operator_key))
        made = []
        for number in range(count):
            org = await operator.register_org(f"bench-{number}", f"Bench {number}", ORG_CAP, plan="bi")
            client = await stack.enter_async_context(Client(base_url, org.key.secret))
            await client.save_workflow(WORKFLOW, msgspec.to_builtins(plain_workflow()))
            made.append(Caller(client, pages))
        yield made


async def one_at_a_time(caller: Caller, jobs: int) -> tuple[Load, list[float]]:
    """Submit a job, wait for its end, submit the next; return also how long the caller waited for each, in ms.

    The caller looks every LOOK_SECONDS: its waits are that much too long at most.
    """
    job_ids, waits = [], []
    for _ in range(jobs):
        began = time.monotonic()
        [job_id] = await caller.client.submit(caller.take(1), workflow_id=WORKFLOW)
        while (await caller.client.job(job_id)).status not in TERMINAL:  # noqa: ASYNC110  # HTTP has no event to wait for
            await asyncio.sleep(LOOK_SECONDS)
        waits.append((time.monotonic() - began) * 1000)
        job_ids.append(job_id)
    return [(caller, job_ids)], waits


async def all_at_once(callers: Sequence[Caller], jobs: int) -> Load:
    """Submit so many jobs of all orgs as fast as the API takes them."""
    sizes = [min(URLS_PER_CALL, jobs - start) for start in range(0, jobs, URLS_PER_CALL)]
    places = asyncio.Semaphore(CALLS_AT_ONCE)

    async def submit(caller: Caller, size: int) -> tuple[Caller, list[str]]:
        async with places:
            return caller, await caller.client.submit(caller.take(size), workflow_id=WORKFLOW)

    turns = zip(itertools.cycle(callers), sizes, strict=False)
    return list(await asyncio.gather(*(submit(caller, size) for caller, size in turns)))


async def at_a_rate(callers: Sequence[Caller], jobs_per_second: float, seconds: float) -> Load:
    """Submit single jobs at a steady rate, each by another org in turn."""
    began = time.monotonic()
    calls: list[tuple[Caller, asyncio.Task[list[str]]]] = []
    for number, caller in zip(range(int(jobs_per_second * seconds)), itertools.cycle(callers), strict=False):
        await asyncio.sleep(began + number / jobs_per_second - time.monotonic())
        calls.append((caller, asyncio.create_task(caller.client.submit(caller.take(1), workflow_id=WORKFLOW))))
    return [(caller, await call) for caller, call in calls]


async def ended(load: Load) -> None:
    """Return when every job has ended."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    for caller, waiting in _by_caller(load):
        while waiting:
            states = await caller.client.statuses(waiting)
            waiting = [job_id for job_id in waiting if states.get(job_id) not in TERMINAL]
            if time.monotonic() > deadline:
                raise NotCompleted(f"{len(waiting)} jobs had not ended after {PATIENCE_SECONDS:g} s")
            if waiting:
                await asyncio.sleep(POLL_SECONDS)


async def completed(load: Load) -> list[JobSummary]:
    """Return the jobs as the API lists them; NotCompleted where one did not end as it should."""
    found: list[JobSummary] = []
    for caller, job_ids in _by_caller(load):
        wanted, cursor = set(job_ids), ""
        while wanted:
            page = await caller.client.page(limit=PAGE_LIMIT, cursor=cursor)
            found += [job for job in page.jobs if job.job_id in wanted]
            wanted -= {job.job_id for job in page.jobs}
            cursor = page.next_cursor or ""
    for job in found:
        if job.status != "completed":
            raise NotCompleted(f"job {job.job_id} is {job.status} ({job.error_type}): see the stack's logs")
    return found


def latencies(jobs: Sequence[JobSummary]) -> list[float]:
    """Return the time of each job from its submission to its completion by the ledger's own times, in ms."""
    return [milliseconds_between(job.created_at, job.completed_at or "") for job in jobs]


def span_seconds(jobs: Sequence[JobSummary]) -> float:
    """Return the time from the first submission to the last completion by the ledger's own times."""
    first, last = min(job.created_at for job in jobs), max(job.completed_at or "" for job in jobs)
    return milliseconds_between(first, last) / 1000


def _by_caller(load: Load) -> list[tuple[Caller, list[str]]]:
    merged: dict[int, tuple[Caller, list[str]]] = {}
    for caller, job_ids in load:
        merged.setdefault(id(caller), (caller, []))[1].extend(job_ids)
    return list(merged.values())
