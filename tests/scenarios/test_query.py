"""Scenario 82: equal times are not skipped, and microseconds are not lost, whatever arrives while a list is read."""

from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from dataclasses import replace

import aiohttp
import pytest

from services.runtime.settings import Settings
from tests.integration.api.conftest import OPERATOR, Api, Tenant, make_tenant, running
from tests.integration.api.pocket import PocketLedger

JOBS, PAGE = 500, 7


@pytest.fixture
def operated(settings: Settings) -> Settings:
    return replace(settings, operator_key=OPERATOR)


@pytest.fixture
def pocket(operated: Settings) -> Iterator[PocketLedger]:
    with closing(PocketLedger(operated.partitions, operated.postgres)) as pocket:
        yield pocket


@pytest.fixture
async def api(operated: Settings, pocket: PocketLedger) -> AsyncIterator[Api]:
    async with aiohttp.ClientSession() as session, running(operated, pocket, session) as api:
        yield api


@pytest.mark.parametrize("order", ["newest", "oldest"])
@pytest.mark.parametrize("status", ["", "&status=pending&status=running&status=failed"])
async def test_82_five_hundred_jobs_of_one_transaction_come_once_each_in_both_directions_while_others_arrive(
    api: Api, pocket: PocketLedger, order: str, status: str
) -> None:
    acme = await make_tenant(api, "acme")
    jobs = await submitted(api, acme, JOBS)
    pocket.project()
    seen: list[str] = []
    times: list[str] = []
    place, pages = "", 0
    while True:
        page = (await api.call("GET", f"/api/v1/jobs?limit={PAGE}&order={order}{status}{place}", acme.key)).json
        seen += [job["jobId"] for job in page["jobs"]]
        times += [job["createdAt"] for job in page["jobs"]]
        pages += 1
        if page["nextCursor"] is None:
            break
        place = f"&cursor={page['nextCursor']}"
        if pages % 20 == 1:
            await submitted(api, acme, 2)
            pocket.project()
    first = [(job, at) for job, at in zip(seen, times, strict=True) if job in jobs]
    assert sorted(job for job, _ in first) == sorted(jobs), "each once, none missing"
    assert len({at for _, at in first}) == 1, "they have one time"
    assert len(set(seen)) == len(seen)
    assert times == sorted(times, reverse=order == "newest")
    assert len(seen) == (JOBS if order == "newest" else JOBS + 2 * (pages // 20 + 1)), (
        "later ones lie behind the oldest"
    )


async def test_82_times_one_microsecond_apart_are_told_apart_by_cursors_and_by_bounds(
    api: Api, pocket: PocketLedger
) -> None:
    acme = await make_tenant(api, "acme")
    await submitted(api, acme, 3)
    pocket.project()
    with pocket._store._connection.transaction():
        pocket._store._connection.execute(
            "UPDATE jobs SET submitted_at = '2026-01-31T12:00:00.123456Z'::timestamptz + n * interval '1 microsecond' "
            "FROM (SELECT job_id, row_number() OVER (ORDER BY job_id) AS n FROM jobs) AS k WHERE k.job_id = jobs.job_id"
        )
    listed = (await api.call("GET", "/api/v1/jobs?order=oldest", acme.key)).json["jobs"]
    assert [job["createdAt"][-8:] for job in listed] == [".123457Z", ".123458Z", ".123459Z"]
    middle = "createdAfter=2026-01-31T12:00:00.123458Z&createdBefore=2026-01-31T12:00:00.123459Z"
    assert (await api.call("GET", f"/api/v1/jobs?{middle}", acme.key)).json["jobs"] == [listed[1]]
    page = (await api.call("GET", "/api/v1/jobs?order=oldest&limit=1", acme.key)).json
    again = (await api.call("GET", f"/api/v1/jobs?order=oldest&limit=1&cursor={page['nextCursor']}", acme.key)).json
    assert (page["jobs"], again["jobs"]) == ([listed[0]], [listed[1]])
    other = await api.call("GET", f"/api/v1/jobs?order=newest&cursor={page['nextCursor']}", acme.key)
    assert (other.status, other.json["field"]) == (422, "cursor")


async def submitted(api: Api, tenant: Tenant, count: int) -> list[str]:
    """Submit so many jobs in one transaction."""
    urls = [f"https://shop.example/{number}" for number in range(count)]
    made = await api.call("POST", "/api/v1/jobs", tenant.key, {"urls": urls})
    assert made.status == 201, made.json
    return [job["jobId"] for job in made.json["jobs"]]
