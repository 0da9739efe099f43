"""A module job through everything there is: the API, a decider, a worker of modules, the projection, a real broker."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from api.compose import serving
from projections.__main__ import main as project
from services.runtime.settings import Settings
from tests.beside import beside
from tests.eventually import eventually
from tests.integration.api.conftest import OPERATOR
from tests.integration.workers.plant import Plant
from tests.unit.workers.fakes import FIELDS, workflow

pytestmark = pytest.mark.kafka
QUERIES = ["lamp", "desk", "chair"]


@pytest.fixture
async def plant(settings: Settings, tmp_path: Path) -> AsyncIterator[Plant]:
    """A plant with its decider and a worker of modules."""
    plant = Plant(settings, tmp_path)
    try:
        await plant.open(workflow())
        plant.start("services.workers.modules", JOBLEDGER_WORKER_ID="m1")
        partitions = plant.settings.partitions
        await eventually(lambda: len({e.header.partition for e in plant.of("WorkerAlive")}) == partitions, 30)
        yield plant
    finally:
        await plant.close()


async def body_of(client: aiohttp.ClientSession, path: str) -> Any:
    async with client.get(path) as answer:
        assert answer.status == 200, await answer.text()
        return await answer.json()


async def test_a_job_is_read_while_it_runs_and_gone_on_from_when_it_was_cancelled(plant: Plant) -> None:
    settings = replace(plant.settings, operator_key=OPERATOR, host="127.0.0.1", port=0)
    async with beside(project(settings)), serving(settings) as running:
        url = f"http://127.0.0.1:{running.port}"
        async with aiohttp.ClientSession(url, headers={"Authorization": f"Bearer {OPERATOR}"}) as operator:
            made = await (await operator.post("/api/v1/orgs", json={"orgId": "modules", "name": "M"})).json()
        async with aiohttp.ClientSession(url, headers={"Authorization": f"Bearer {made['key']['secret']}"}) as client:
            asked = {"queries": QUERIES, "zones": ["p", "slow"], "extract": {"fields": list(FIELDS)}}
            asked["url_template"] = plant.site.url + "/{zone}/{query}"
            job_id = (await (await client.post("/api/jobs", json=asked)).json())["id"]

            async def stands(job_id: str, status: str, results: int) -> bool:
                shown = await body_of(client, f"/api/jobs/{job_id}")
                return (shown["status"], shown["results_count"]) == (status, results)

            await eventually(lambda: stands(job_id, "running", 3), 30)
            page = await body_of(client, f"/api/jobs/{job_id}/items?limit=2")
            assert ([row["query"] for row in page["items"]], page["total"]) == (QUERIES[:2], 3)
            assert (await client.post(f"/api/jobs/{job_id}/cancel")).status == 202
            await eventually(lambda: stands(job_id, "cancelled", 3), 30)
            plant.site.gate.set()
            resumed = await client.post(f"/api/jobs/{job_id}/resume")
            assert resumed.status == 201, await resumed.text()
            next_id = (await resumed.json())["id"]
            await eventually(lambda: stands(next_id, "done", 6), 60)
            rows = (await body_of(client, f"/api/jobs/{next_id}/items"))["items"]
            assert [(row["zone"], row["query"]) for row in rows] == [(z, q) for z in ("p", "slow") for q in QUERIES]
            done = await body_of(client, f"/api/jobs/{next_id}")
            assert (done["source_job_id"], done["total_attempts_count"], done["error_count"]) == (job_id, 2, 0)
            assert done["breakdown"]["by_zone"] == {"p": 3, "slow": 3}
