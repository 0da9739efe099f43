"""Jobs through a provider with a credential, by every process: without one, with one, and with one that was changed."""

import json
from dataclasses import replace
from typing import Any

import pytest

from services.runtime.sealing import new_key
from services.runtime.settings import Settings
from tests.fakes.providers.frame import SECRETS, SitePage, basic
from tests.fakes.providers.zyte import FakeZyte
from tests.integration.junk.platform import Platform, platform
from tests.unit.workers.fakes import GOOD, service, workflow

pytestmark = pytest.mark.kafka
DOCUMENT = json.loads(workflow(service("a", retries=3, provider="zyte"), service("b", retries=1)))


async def walked(it: Platform) -> list[tuple[str, str, str, str]]:
    """Run a job, and return of each call its node, outcome, error and edge."""
    job: dict[str, Any] = await it.until(await it.submit(), "completed")
    visits = [visit for visit in job["executionTrace"] if visit["provider"]]
    return [(visit["node"], visit["outcome"], visit["errorType"] or "", visit["edge"] or "") for visit in visits]


async def test_a_job_takes_the_fail_edge_without_a_credential_and_the_provider_with_one(settings: Settings) -> None:
    fake = FakeZyte()
    fake.page = SitePage(GOOD.decode())
    async with (
        fake.serving() as zyte,
        platform(replace(settings, zyte_url=zyte, credentials_key=new_key()), DOCUMENT, postgres=settings) as it,
    ):
        by_site = ("b", "succeeded", "", "success")
        assert await walked(it) == [("a", "failed", "credential_missing", "fail"), by_site]
        assert fake.asked == []

        await it.call("POST", "/api/v1/credentials", {"provider": "zyte", "secret": {"apiKey": SECRETS["apiKey"]}})
        assert await walked(it) == [("a", "succeeded", "", "success")]
        assert len(fake.asked) == 1

        fake.authorization = basic("changed-at-zyte", "")
        assert await walked(it) == [("a", "failed", "provider_auth", "fail"), by_site]
        await it.call("POST", "/api/v1/credentials", {"provider": "zyte", "secret": {"apiKey": "changed-at-zyte"}})
        assert await walked(it) == [("a", "succeeded", "", "success")]

        fake.says(429, Retry_After="1")
        fake.says(520)
        assert await walked(it) == [
            ("a", "failed", "http_429", ""),
            ("a", "failed", "http_5xx", ""),
            ("a", "succeeded", "", "success"),
        ]
