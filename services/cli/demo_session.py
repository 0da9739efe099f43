"""One run of the demo over HTTP: site, orgs, workflows, jobs, and what became of each."""

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from services.cli.client import Client
from services.cli.demo_orgs import ORG_NAMES, org_ids, register, workflow_ids
from services.cli.demo_plan import lots
from services.cli.demo_run import Crew, Outcome, Submitted, Tell
from services.cli.demo_site import start_demo_site
from services.cli.kept_keys import OrgKey

Progress = Callable[[], AbstractContextManager[Tell]]


@dataclass(frozen=True, slots=True)
class Session:
    """What a run came to; `seconds` from the first submission until the last job had ended or time was over."""

    orgs: list[OrgKey]
    outcomes: list[Outcome]
    seconds: float


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
    orgs = await _register(place, list(ORG_NAMES))
    site = await start_demo_site()
    try:
        async with Crew(place.base_url, orgs) as crew:
            started = time.monotonic()
            submitted = await crew.submit_lots(site.base_url, lots(jobs, [org.org_id for org in orgs]))
            return await _seen_through(place, crew, orgs, submitted, started)
    finally:
        await site.close()


async def run_urls(place: Place, urls: Sequence[str]) -> Session:
    """Run the user's own urls through the first workflow for one org."""
    orgs = await _register(place, list(ORG_NAMES)[:1])
    async with Crew(place.base_url, orgs) as crew:
        started = time.monotonic()
        submitted = await crew.submit(orgs[0].org_id, urls, workflow_ids()[0], None)
        return await _seen_through(place, crew, orgs, submitted, started)


async def _register(place: Place, names: Sequence[str]) -> list[OrgKey]:
    orgs = []
    async with Client(place.base_url, place.operator_key) as operator:
        for org_id in org_ids(names):
            orgs.append(await register(operator, org_id))
            place.keep(orgs[-1])
    return orgs


async def _seen_through(
    place: Place, crew: Crew, orgs: list[OrgKey], submitted: list[Submitted], started: float
) -> Session:
    with place.progress() as tell:
        await crew.watch(submitted, started + place.deadline_seconds, tell)
    seconds = time.monotonic() - started
    return Session(orgs, await crew.outcomes(submitted), seconds)
