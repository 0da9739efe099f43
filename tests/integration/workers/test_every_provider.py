"""Jobs through every provider, by every process: one job each, and one that falls from each of them to the next."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from projections.verify import verify
from services.ledger.provider_settings import PROVIDERS
from services.runtime.sealing import new_key
from services.runtime.settings import Settings
from tests.fakes.providers.frame import SECRETS, FakeProvider, SitePage
from tests.integration.junk.platform import OPERATOR, Platform, platform
from tests.unit.providers.calls import FAKES
from tests.unit.workers.fakes import GOOD, service, workflow

pytestmark = pytest.mark.kafka
CAPTCHA = "<html><h1>Verify you are human</h1><form><div class=g-recaptcha data-sitekey=k></div></form></html>"
GRANTED, RENDER, FALLBACK = 100, 3, 2  # credits
WAIT_SECONDS = 2
OPENS = {"Authorization": f"Bearer {OPERATOR}"}
CHAIN = json.loads(
    workflow(
        service("b", provider="brightdata", retries=1, country="de"),
        service("o", provider="oxylabs", retries=2, retryBackoff="deferred", retryDelayMs=1, headers={"X-A": "1"}),
        service("n", provider="nimble", retries=2),
        service("z", provider="zyte", retries=3, renderJs=True, country="us"),
        service("d", provider="decodo", retries=2, retryBackoff="instant", retryDelayMs=1, session="s"),
        service("f", provider="direct"),
    )
)
# node, provider, try, outcome, status, error or rule, edge
WALK = [
    ("b", "brightdata", 1, "failed", 503, "http_5xx", "fail"),
    ("o", "oxylabs", 1, "failed", 429, "http_429", None),
    ("o", "oxylabs", 2, "failed", 500, "http_5xx", "fail"),
    ("n", "nimble", 1, "refused", 200, "captcha", "fail"),
    ("z", "zyte", 1, "failed", 401, "provider_auth", "fail"),
    ("d", "decodo", 1, "failed", None, "connection", None),
    ("d", "decodo", 2, "failed", 400, "provider_request", "fail"),
    ("f", "direct", 1, "succeeded", 200, None, "success"),
]


@asynccontextmanager
async def with_every_provider(settings: Settings) -> AsyncIterator[tuple[Platform, dict[str, FakeProvider]]]:
    """Run the platform beside all fakes, each of which has a good page, with a credential for each."""
    async with AsyncExitStack() as stack:
        fakes = {kind.name: kind() for kind in FAKES}
        for fake in fakes.values():
            fake.page = SitePage(GOOD.decode())
        urls = {f"{name}_url": await stack.enter_async_context(fake.serving()) for name, fake in fakes.items()}
        prices = {"render_surcharge": RENDER, "fallback_surcharge": FALLBACK}
        own = replace(settings, credentials_key=new_key(), **urls, **prices)  # type: ignore[arg-type]
        it = await stack.enter_async_context(platform(own, CHAIN, postgres=settings))
        for name in fakes:
            secret = {field: SECRETS[field] for field in PROVIDERS[name].credential}
            await it.made("/api/v1/credentials", {"provider": name, "secret": secret})
        assert (await it.call("POST", "/api/v1/orgs/acme/credits", {"grant": GRANTED}, **OPENS))[0] == 200
        yield it, fakes


async def left(it: Platform, job: Any) -> int:
    """Return the credits that the org has, once the end of a job is counted."""
    _, said = await it.call("GET", f"/api/v1/jobs/{job['jobId']}/events")
    last = said["events"][-1]
    _, status = await it.call("GET", f"/api/v1/plans/status?min_position={last['partition']}:{last['position']}")
    return int(status["remainingCredits"])


def walk_of(job: Any) -> list[tuple[object, ...]]:
    """Return the visits of providers in a trace."""
    return [
        (each["node"], each["provider"], each["attempt"], each["outcome"], each["statusCode"],
         each["rule"] or each["errorType"], each["edge"])
        for each in job["executionTrace"] if each["provider"]
    ]  # fmt: skip


async def test_a_job_goes_through_each_provider_alone(settings: Settings) -> None:
    async with with_every_provider(settings) as (it, fakes):
        for name in (*fakes, "direct"):
            document = json.loads(workflow(service("a", provider=name, retries=1)))
            await it.made("/api/v1/workflows", {"workflowId": name, "document": document, "publish": True})
        jobs = {name: await it.submit(f"/p/{name}", workflowId=name) for name in (*fakes, "direct")}
        for name, job_id in jobs.items():
            job = await it.until(job_id, "completed")
            assert walk_of(job) == [("a", name, 1, "succeeded", 200, None, "success")]
            async with it.client.get(f"/api/v1/jobs/{job_id}/result") as result:
                assert (result.status, await result.read()) == (200, GOOD)
            _, extraction = await it.call("GET", f"/api/v1/extraction/results/{job_id}")
            assert extraction["normalized"]["name"] == "Lamp"
        asked = {name: [each["url"] for each in fake.asked] for name, fake in fakes.items()}
        assert asked == {name: [f"{it.site.url}/p/{name}"] for name in fakes}
        assert list(it.site.got) == ["/p/direct"], "the site itself is called by nobody else"
        assert await left(it, job) == GRANTED - len(jobs), "no surcharge"


async def test_a_job_falls_from_provider_to_provider_waits_as_told_and_pays_for_each(settings: Settings) -> None:
    async with with_every_provider(settings) as (it, fakes):
        fakes["brightdata"].page = SitePage(status=503)
        fakes["oxylabs"].says(429, Retry_After=str(WAIT_SECONDS))
        fakes["oxylabs"].says(500)
        fakes["nimble"].page = SitePage(CAPTCHA)
        fakes["zyte"].authorization = "Basic changed-there"
        fakes["decodo"].scripted.append(fakes["decodo"].reset)
        fakes["decodo"].says(400)
        job = await it.until(await it.submit(), "completed")
        assert walk_of(job) == WALK
        assert [step["status"] for step in job["transitions"]] == [
            "pending", "running", "waiting_retry", "running", "extraction_done", "completed",
        ]  # fmt: skip
        told, again = [each for each in job["executionTrace"] if each["node"] == "o"]
        waited = datetime.fromisoformat(again["startedAt"]) - datetime.fromisoformat(told["endedAt"])
        assert waited.total_seconds() >= WAIT_SECONDS
        assert {name: len(fake.asked) for name, fake in fakes.items()} == {
            "brightdata": 1, "oxylabs": 2, "nimble": 1, "zyte": 0, "decodo": 2,
        }  # fmt: skip
        assert len(it.site.got["/p/1"]) == 1
        assert await left(it, job) == GRANTED - 1 - 5 * FALLBACK - RENDER
        report = await asyncio.to_thread(verify, it.settings)
        assert report.ok, report.faults
