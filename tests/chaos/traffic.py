"""The customers: several orgs that submit, repeat, cancel and change their limits, and remember what they were told."""

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

import aiohttp
import msgspec

from api import config_answers, webhook_answers
from services.cli.client import Client
from services.cli.demo_kinds import PAGE_KINDS, PageKind
from services.cli.demo_workflows import demo_workflows
from services.cli.errors import ApiRefused, ApiSilent

# How many jobs each may have in flight, and the seconds between two orders on average: what a busy machine can do.
ORGS = {"ash": (1, 8.0), "birch": (3, 4.0), "cedar": (8, 2.5), "dogwood": (20, 2.5)}
CAP_AT_THE_END = 20
WITH_CLICKHOUSE = ("birch", "dogwood")
WITH_ASIDE = "cedar"  # it has a second hook, which does not gate
MAIN, ASIDE = "main", "aside"
BATCHES = (1, 1, 1, 2, 3, 5)
CANCELLED, CLICKED_TWICE, ASKED_AGAIN, LIMIT_CHANGED = 0.15, 0.1, 0.1, 0.03  # shares of the submissions
CANCEL_AFTER_SECONDS = (0.0, 0.1, 0.5, 2.0, 6.0)
AGAIN_AFTER_SECONDS = (1.0, 8.0, 20.0)
PATIENCE_SECONDS = 60.0  # of one round of calls; a submission goes through as many as it takes
MOST_OPEN = 60  # submissions of an org without an answer; above that it waits


@dataclass(frozen=True, slots=True)
class Asked:
    """One job that was asked for."""

    org_id: str
    url: str
    kind: PageKind


@dataclass(slots=True)
class Told:
    """What the API acknowledged: the truth that everything else is held against."""

    asked: dict[str, Asked] = field(default_factory=dict)  # by url
    accepted: dict[str, Asked] = field(default_factory=dict)  # by job id
    cancelled: set[str] = field(default_factory=set)
    doubled: list[str] = field(default_factory=list)  # one key, two answers
    refused: list[str] = field(default_factory=list)  # answers that nothing asked for
    unanswered: int = 0
    counts: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class Customer:
    """One org that calls the API."""

    org_id: str
    cap: int
    pause_seconds: float  # between two orders, on average
    client: Client
    operator: Client
    site: str
    random: Random
    told: Told
    give_up: float = 0.0  # a reading of the monotonic clock, by which answers have to be there
    numbers: int = 0

    async def run(self, until: float, give_up: float) -> None:
        """Submit until the time is over, and return when every call has its answer."""
        self.give_up = give_up
        async with asyncio.TaskGroup() as group:
            open_calls: set[asyncio.Task[None]] = set()
            while time.monotonic() < until:
                if len(open_calls) < MOST_OPEN:
                    task = group.create_task(self._order())
                    open_calls.add(task)
                    task.add_done_callback(open_calls.discard)
                await asyncio.sleep(self.random.expovariate(1 / self.pause_seconds))

    async def _order(self) -> None:
        """Submit some jobs under one key, maybe more than once, and maybe think better of one of them."""
        random, told = self.random, self.told
        workflow = random.choice(("demo-plain", "demo-plain", "demo-fallback", "chaos-instant"))
        urls = [self._url(workflow) for _ in range(random.choice(BATCHES))]
        key = f"{self.org_id}-{self.numbers}"
        ways, lot = [0.0], random.random()
        if lot < CLICKED_TWICE:
            ways.append(0.0)
        elif lot < CLICKED_TWICE + ASKED_AGAIN:
            ways.append(random.choice(AGAIN_AFTER_SECONDS))
        cancel = random.random() < CANCELLED
        answers_ = await asyncio.gather(*(self._submit(urls, workflow, key, after) for after in ways), self._limit())
        ids = [each for each in answers_ if each]
        if any(each != ids[0] for each in ids):
            told.doubled.append(f"key {key} was answered with {ids}")
        for each in ids:
            told.accepted |= {job_id: told.asked[url] for job_id, url in zip(each, urls, strict=True)}
        if cancel and ids:
            await asyncio.sleep(random.choice(CANCEL_AFTER_SECONDS))
            await self._cancel(random.choice(ids[0]))

    async def _submit(self, urls: Sequence[str], workflow: str, key: str, after: float) -> list[str] | None:
        await asyncio.sleep(after)
        self.told.counts["submissions"] += 1
        while time.monotonic() < self.give_up:
            try:
                return await self.client.submit(urls, workflow_id=workflow, idempotency_key=key)
            except (ApiSilent, aiohttp.ClientPayloadError):
                self.told.counts["submissions without an answer for a minute"] += 1
            except ApiRefused as refused:
                self.told.refused.append(f"submit {key}: {refused.status} {refused}")
                return None
        self.told.unanswered += 1
        return None

    async def _cancel(self, job_id: str) -> None:
        while time.monotonic() < self.give_up:
            try:
                await self.client.cancel(job_id)
            except (ApiSilent, aiohttp.ClientPayloadError):
                continue
            except ApiRefused as refused:
                if refused.code != "job_terminal":
                    self.told.refused.append(f"cancel {job_id}: {refused.status} {refused}")
                self.told.counts["cancels that came too late"] += 1
                return
            self.told.cancelled.add(job_id)
            return
        self.told.unanswered += 1

    async def hurry(self) -> None:
        """Raise the limit, so that what a small one has piled up does not make a run longer than it has to be."""
        await self._set_limit(CAP_AT_THE_END)

    async def _limit(self) -> None:
        if self.random.random() < LIMIT_CHANGED:
            await self._set_limit(self.random.randint(1, 2 * self.cap))

    async def _set_limit(self, cap: int) -> None:
        path = f"/api/v1/orgs/{self.org_id}"
        try:
            await self.operator.call("PATCH", path, config_answers.Org, {"maxInFlight": cap})
            self.told.counts["limits changed"] += 1
        except (ApiSilent, aiohttp.ClientPayloadError):
            self.told.counts["limits not changed: no answer for a minute"] += 1

    def _url(self, workflow: str) -> str:
        """Return a page that nobody asks for again: a second job of it would be a submission recorded twice."""
        like = "demo-fallback" if workflow == "demo-fallback" else "demo-plain"
        kinds = [kind for kind in PAGE_KINDS if kind.workflow == like]
        kind = self.random.choices(kinds, [kind.jobs for kind in kinds])[0]
        self.numbers += 1
        number = list(ORGS).index(self.org_id) * 1_000_000 + self.numbers
        url = self.site + kind.path(number)
        self.told.asked[url] = Asked(self.org_id, url, kind)
        return url


async def register(operator: Client, org_id: str, hooks_url: str) -> Client:
    """Register an org with its workflows, hooks and destinations, and return a client with its key."""
    plan = "bi" if org_id in WITH_CLICKHOUSE else "standard"
    registered = await operator.register_org(org_id, org_id, ORGS[org_id][0], plan=plan)
    client = Client(operator.base_url, registered.key.secret, PATIENCE_SECONDS)
    async with Client(operator.base_url, registered.key.secret, PATIENCE_SECONDS) as setting_up:
        for name, document in demo_workflows().items():
            await setting_up.save_workflow(name, msgspec.to_builtins(document))
        await setting_up.save_workflow("chaos-instant", _instant())
        await _hook(setting_up, f"{hooks_url}/{org_id}/{MAIN}", gating=True)
        if org_id == WITH_ASIDE:
            await _hook(setting_up, f"{hooks_url}/{org_id}/{ASIDE}", gating=False)
        if org_id in WITH_CLICKHOUSE:
            lake = {"kind": "clickhouse", "destinationId": "lake"}
            await setting_up.call("POST", "/api/v1/destinations", config_answers.ConfiguredDestination, lake)
    return client


async def _hook(client: Client, url: str, *, gating: bool) -> None:
    body = {"url": url, "gating": gating, "eventTypes": ["job.completed", "job.failed"]}
    await client.call("POST", "/api/v1/webhooks", webhook_answers.NewWebhook, body)


def _instant() -> dict[str, object]:
    """Return the plain workflow with retries inside one attempt, where those of the others wait in the ledger."""
    document = msgspec.to_builtins(demo_workflows()["demo-plain"])
    for node in document["nodes"]:
        if node["kind"] == "service":
            node["settings"]["retryBackoff"] = "instant"
    return {**document, "name": "chaos-instant"}
