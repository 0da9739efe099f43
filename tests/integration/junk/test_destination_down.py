"""A destination that is down: the job waits in extraction_done, says for which, and is completed when it is back."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from yarl import URL

from services.runtime.settings import Settings
from tests.eventually import eventually
from tests.integration.junk.platform import SECONDS, Platform, Road, platform
from tests.unit.workers.fakes import service, workflow

pytestmark = pytest.mark.kafka
DOCUMENT = json.loads(workflow(service("a")))


@pytest.mark.parametrize("kind", ["postgres", "clickhouse"])
async def test_a_job_waits_for_a_store_that_is_down_and_completes_when_it_is_back(
    settings: Settings, kind: str
) -> None:
    if kind == "clickhouse" and not settings.clickhouse:
        pytest.skip("no ClickHouse: chdb-core is not installed and JOBLEDGER_CLICKHOUSE is not set")
    there = URL(getattr(settings, kind))
    async with Road(str(there.host), there.port or 0).laid() as road:
        url = str(there.with_host("127.0.0.1").with_port(road.port))
        astray = replace(settings, postgres=url) if kind == "postgres" else replace(settings, clickhouse=url)
        writers = {"postgres": settings, "clickhouse": settings} | {kind: astray}
        if not settings.clickhouse:
            del writers["clickhouse"]
        async with platform(settings, DOCUMENT, **writers) as it:
            waits_for = "internal-postgres"
            if kind == "clickhouse":
                waits_for = "lake"
                await it.made("/api/v1/destinations", {"kind": "clickhouse", "destinationId": waits_for})
            await _waits_and_completes(it, waits_for, lambda: setattr(road, "open", True))


async def test_a_job_waits_for_a_webhook_that_is_down_and_completes_when_it_is_back(settings: Settings) -> None:
    async with platform(settings, DOCUMENT, postgres=settings, webhook=settings) as it:
        it.site.says("/hook", 503)
        hook = await it.made("/api/v1/webhooks", {"url": f"{it.site.url}/hook", "eventTypes": []})
        await _waits_and_completes(it, hook["webhookId"], lambda: it.site.says("/hook", 200))
        assert len({got.message_id for got in it.site.got["/hook"]}) == 1


async def _waits_and_completes(it: Platform, destination: str, repair: Callable[[], None]) -> None:
    job_id = await it.submit()

    async def waits_for_it_alone() -> bool:
        return bool((await it.job(job_id))["gate"]["pending"] == [destination])

    await it.until(job_id, "extraction_done")
    await eventually(waits_for_it_alone, SECONDS)
    waiting = await it.job(job_id)
    assert (waiting["status"], waiting["gate"]["pending"]) == ("extraction_done", [destination])
    assert (waiting["completedAt"], waiting["gate"]["openedAt"]) == (None, None)
    back_at = datetime.now(UTC)
    repair()
    done = await it.until(job_id, "completed")
    assert done["gate"]["pending"] == []
    assert done["gate"]["expected"] == done["gate"]["acked"] == len(done["gate"]["openedBy"])
    assert datetime.fromisoformat(done["completedAt"]) > back_at
