"""One run of the demo over HTTP: site, orgs, workflows, jobs, a destination that is down, what became of each job."""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from services.cli.client import Client
from services.cli.demo_orgs import ORGS, DemoOrg, Registered, disable_webhook, new_run, register, workflow_ids
from services.cli.demo_outage import Outage, ended, sit_out
from services.cli.demo_plan import lots
from services.cli.demo_receiver import Receiver, receiving
from services.cli.demo_run import Crew, Outcome, Submitted, Tell
from services.cli.demo_site import serving
from services.cli.kept_keys import OrgKey

Progress = Callable[[], AbstractContextManager[Tell]]


@dataclass(frozen=True, slots=True)
class Session:
    """What a run came to; `seconds` from the first submission until the last job had ended or time was over.

    `outage` is None where no job waited for a destination that was down: none was to be, or nothing was sent to it.
    """

    name: str
    orgs: list[Registered]
    outcomes: list[Outcome]
    seconds: float
    outage: Outage | None = None
    outage_planned: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run takes place: the API, its operator's key, how long it may take, and who watches."""

    base_url: str
    operator_key: str
    deadline_seconds: float
    progress: Progress
    keep: Callable[[OrgKey], None]


async def run_pages(place: Place, jobs: int) -> Session:
    """Run so many jobs of three orgs over the demo site."""
    run = new_run()
    async with receiving() as receiver, serving() as site_url:
        orgs = await _register(place, run, ORGS, receiver.url)
        async with Crew(place.base_url, [org.key for org in orgs]) as crew:
            started = time.monotonic()
            submitted = await crew.submit_lots(site_url, lots(jobs, [org.org_id for org in orgs]))
            looking = asyncio.create_task(_outage(receiver, crew, orgs, submitted))
            try:
                outcomes, seconds = await _seen_through(place, crew, submitted, started)
                outage = ended(await looking, receiver) if receiver.called.is_set() else None
            finally:
                looking.cancel()
                for org in orgs:
                    if org.webhook_id:
                        await disable_webhook(crew.voice(org.org_id).client, org.webhook_id)
    return Session(run, orgs, outcomes, seconds, outage, outage_planned=True)


async def run_urls(place: Place, urls: Sequence[str]) -> Session:
    """Run the user's own urls through the first workflow for one org."""
    run = new_run()
    orgs = await _register(place, run, ORGS[:1])
    async with Crew(place.base_url, [org.key for org in orgs]) as crew:
        started = time.monotonic()
        submitted = await crew.submit(orgs[0].org_id, urls, workflow_ids()[0], None)
        outcomes, seconds = await _seen_through(place, crew, submitted, started)
    return Session(run, orgs, outcomes, seconds)


async def _register(place: Place, run: str, planned: Sequence[DemoOrg], webhook_url: str = "") -> list[Registered]:
    orgs = []
    async with Client(place.base_url, place.operator_key) as operator:
        for org in planned:
            orgs.append(await register(operator, run, org, webhook_url))
            place.keep(orgs[-1].key)
    return orgs


async def _outage(receiver: Receiver, crew: Crew, orgs: Sequence[Registered], submitted: Sequence[Submitted]) -> Outage:
    org = next(org for org in orgs if org.webhook_id)
    job_ids = [job.job_id for job in submitted if job.org_id == org.org_id]
    return await sit_out(receiver, crew.voice(org.org_id), org.org_id, org.webhook_id, job_ids)


async def _seen_through(
    place: Place, crew: Crew, submitted: list[Submitted], started: float
) -> tuple[list[Outcome], float]:
    with place.progress() as tell:
        await crew.watch(submitted, started + place.deadline_seconds, tell)
    seconds = time.monotonic() - started
    return await crew.outcomes(submitted), seconds
