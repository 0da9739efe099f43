"""Positions in requests and answers: who names one that was answered sees at least what was done there."""

import asyncio
from dataclasses import replace

import aiohttp
import pytest

from services.runtime.settings import Settings
from tests.eventually import eventually
from tests.integration.api.conftest import Api, StartApi, Tenant, running, submit
from tests.integration.api.pocket import PocketLedger

READS = (
    ("GET", "/api/v1/jobs", 200),
    ("GET", "/api/v1/jobs/{job_id}", 200),
    ("GET", "/api/v1/jobs/{job_id}/events", 200),
    ("GET", "/api/v1/jobs/{job_id}/deliveries", 200),
    ("GET", "/api/v1/jobs/{job_id}/explain", 200),
    ("GET", "/api/v1/jobs/{job_id}/result", 409),
    ("GET", "/api/v1/extraction/results/{job_id}", 404),
    ("GET", "/api/v1/extractions", 200),
    ("POST", "/api/v1/jobs/batch-status", 200),
)


async def test_what_one_instance_did_is_on_the_list_of_the_other_that_is_asked_as_of_it(
    api: Api, start_api: StartApi, acme: Tenant, pocket: PocketLedger
) -> None:
    async with start_api() as other:
        for number in range(5):
            made = await api.call("POST", "/api/v1/jobs", acme.key, {"url": f"https://shop.example/{number}"})
            position = made.headers["Ledger-Position"]
            before = await other.call("GET", "/api/v1/jobs", acme.key)
            assert made.json["jobId"] not in [job["jobId"] for job in before.json["jobs"]]
            path = f"/api/v1/jobs?min_position={position}"
            asked = asyncio.create_task(other.call("GET", path, acme.key))
            done, _ = await asyncio.wait([asked], timeout=0.1)
            assert not done
            pocket.project()
            answer = await asked
            assert answer.json["jobs"][0]["jobId"] == made.json["jobId"]
            assert _place(answer.headers["Ledger-Position"]) >= _place(position)


@pytest.mark.parametrize(("method", "path", "status"), READS)
async def test_every_read_of_the_read_model_waits_for_a_position_and_says_503_in_vain(
    with_operator: Settings,
    api: Api,
    acme: Tenant,
    pocket: PocketLedger,
    session: aiohttp.ClientSession,
    method: str,
    path: str,
    status: int,
) -> None:
    job_id = await submit(api, acme)
    pocket.project()
    position = pocket.entries[-1].position
    body = {"jobIds": [job_id]} if method == "POST" else None
    path = path.format(job_id=job_id)
    async with running(replace(with_operator, min_position_seconds=0.05), pocket, session) as hasty:
        for header in (False, True):

            async def ask(place: str, header: bool = header) -> tuple[int, str, str]:
                options = {"headers": {"Min-Position": place}} if header else {"params": {"min_position": place}}
                answer = await hasty.call(method, path, acme.key, body, **options)
                json = answer.json or {}
                return answer.status, str(json.get("field")), answer.headers.get("Retry-After", "")

            field = "Min-Position" if header else "min_position"
            await _until_seen(hasty, acme, position)
            assert (await ask(f"{acme.partition}:{position}"))[0] == status
            assert await ask(f"{acme.partition}:{position + 1}") == (503, field, "1")
            assert await ask(f"{acme.partition + 1}:1") == (400, field, "")
            assert await ask("4711") == (400, field, "")


async def test_calls_that_change_a_job_name_the_position_of_the_change(
    api: Api, acme: Tenant, pocket: PocketLedger
) -> None:
    job_id = await submit(api, acme)
    pocket.project()
    cancelled = await api.call("POST", f"/api/v1/jobs/{job_id}/cancel", acme.key)
    place = cancelled.headers["Ledger-Position"]
    pocket.project()
    read = await api.call("GET", f"/api/v1/jobs/{job_id}?min_position={place}", acme.key)
    assert read.json["status"] == "cancelled"


async def _until_seen(api: Api, tenant: Tenant, position: int) -> None:
    async def is_seen() -> bool:
        answer = await api.call("GET", "/api/v1/jobs", tenant.key)
        return _place(answer.headers.get("Ledger-Position", "0:0"))[1] >= position

    await eventually(is_seen)


def _place(text: str) -> tuple[int, int]:
    partition, _, position = text.partition(":")
    return int(partition), int(position)
