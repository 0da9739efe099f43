"""The API as it is put together, on a real broker with a real decider; nothing projects unless a test says so."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import aiohttp
import pytest

from api.compose import serving
from projections.__main__ import main as project
from services.decider.__main__ import main as decide
from services.runtime.admin import ensure_topics
from services.runtime.ids import uuid7
from services.runtime.settings import Settings
from tests.beside import beside
from tests.eventually import LOOK_SECONDS
from tests.integration.api.conftest import OPERATOR, WORKFLOW

JOBS = 30
READY_SECONDS = 30


@pytest.fixture
async def decided(ledger: Settings) -> AsyncIterator[Settings]:
    """Settings of a ledger whose partitions all have a decider."""
    settings = replace(ledger, operator_key=OPERATOR, host="127.0.0.1", port=0)
    async with beside(decide(settings)):
        yield settings


@asynccontextmanager
async def two_instances(settings: Settings) -> AsyncIterator[tuple[aiohttp.ClientSession, aiohttp.ClientSession]]:
    """Two clients, each of an API instance of its own, both with the key of an org that has a workflow."""
    async with serving(settings) as first, serving(settings) as second:
        urls = [f"http://127.0.0.1:{running.port}" for running in (first, second)]
        async with aiohttp.ClientSession(urls[0], headers={"Authorization": f"Bearer {OPERATOR}"}) as operator:
            made = await operator.post("/api/v1/orgs", json={"orgId": "acme", "name": "Acme"})
            assert made.status == 201, await made.text()
            key = (await made.json())["key"]["secret"]
        headers = {"Authorization": f"Bearer {key}"}
        async with (
            aiohttp.ClientSession(urls[0], headers=headers) as one,
            aiohttp.ClientSession(urls[1], headers=headers) as two,
        ):
            body = {"workflowId": "products", "document": WORKFLOW, "publish": True}
            assert (await one.post("/api/v1/workflows", json=body)).status == 201
            yield one, two


async def test_a_job_accepted_by_one_instance_is_read_from_the_other_at_once_and_never_404(decided: Settings) -> None:
    async with two_instances(decided) as (one, two):
        for number in range(JOBS):
            made = await one.post("/api/v1/jobs", json={"url": f"https://shop.example/{number}"})
            assert made.status == 201, await made.text()
            job_id = (await made.json())["jobId"]
            read = await two.get(f"/api/v1/jobs/{job_id}")
            assert read.status == 200, await read.text()
            assert (await read.json())["url"] == f"https://shop.example/{number}"
        assert (await two.get(f"/api/v1/jobs/{uuid7()}")).status == 404


async def test_the_projection_takes_over_from_the_tail_without_a_gap(decided: Settings) -> None:
    async with two_instances(decided) as (one, two):
        made = await one.post("/api/v1/jobs", json={"urls": ["https://shop.example/1"] * 600})
        assert made.status == 201, await made.text()
        jobs = [job["jobId"] for job in (await made.json())["jobs"]]
        async with beside(project(replace(decided, port=0))), asyncio.timeout(READY_SECONDS):
            listed: list[str] = []
            while len(listed) < 500:
                read = await two.get(f"/api/v1/jobs/{jobs[len(listed) % 600]}")
                assert read.status == 200, await read.text()
                page = await one.get("/api/v1/jobs?limit=500")
                listed = [job["jobId"] for job in (await page.json())["jobs"]]
                await asyncio.sleep(LOOK_SECONDS)
            ready = await one.get("/ready")
            assert ready.status == 200, await ready.text()
            for job_id in (jobs[0], jobs[299], jobs[-1]):  # from the middle of a log with markers
                answer = await two.get(f"/api/v1/jobs/{job_id}/events")
                assert answer.status == 200, await answer.text()
                first = (await answer.json())["events"][0]
                assert (first["type"], first["seq"]) == ("JobSubmitted", 1)
                then = await one.get(f"/api/v1/jobs/{job_id}?at={first['partition']}:{first['position']}")
                assert (await then.json())["jobId"] == job_id


async def test_without_a_decider_a_submission_is_503_and_reads_go_on(decided: Settings) -> None:
    quick = replace(decided, reply_timeout_seconds=0.5)
    async with serving(quick) as running:
        async with two_instances(decided) as (one, _):
            authorization = one.headers["Authorization"]
        nobody = replace(quick, topic_prefix=f"{quick.topic_prefix}-empty")
        await asyncio.to_thread(ensure_topics, nobody)
        async with (
            serving(nobody) as alone,
            aiohttp.ClientSession(headers={"Authorization": authorization}) as client,
        ):
            for port, status in ((alone.port, 503), (running.port, 201)):
                made = await client.post(f"http://127.0.0.1:{port}/api/v1/jobs", json={"url": "https://shop.example/"})
                assert made.status == status, await made.text()
                assert made.headers["Idempotency-Key"]
            assert (await client.get(f"http://127.0.0.1:{alone.port}/api/v1/jobs")).status == 200
