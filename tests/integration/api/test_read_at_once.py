"""A job exists for every reader from the moment it was accepted, whatever Postgres knows."""

import asyncio

from services.ledger.reports import Extracted, Failed
from services.runtime.ids import uuid7
from tests.eventually import eventually
from tests.integration.api.conftest import Api, StartApi, Tenant, submit
from tests.integration.api.pocket import PocketLedger

EXTRACTED = Extracted(result_ref="acme/x/1/body", content_type="text/html", result_bytes=3)


async def test_another_instance_finds_a_job_while_the_projection_stands_still(
    api: Api, start_api: StartApi, acme: Tenant
) -> None:
    async with start_api() as other:
        for _ in range(20):
            job_id = await submit(api, acme)
            answer = await other.call("GET", f"/api/v1/jobs/{job_id}", acme.key)
            assert (answer.status, answer.json["status"]) == (200, "pending")
            assert answer.json["url"] == "https://shop.example/1"
            assert answer.json["gate"]["pending"] == ["internal-postgres"]


async def test_an_instance_whose_tail_is_late_waits_for_it(api: Api, start_api: StartApi, acme: Tenant) -> None:
    async with start_api() as other:
        other.feed.paused = True
        job_id = await submit(api, acme)
        asked = asyncio.create_task(other.call("GET", f"/api/v1/jobs/{job_id}", acme.key))
        done, _ = await asyncio.wait([asked], timeout=0.2)
        assert not done
        other.feed.paused = False
        assert (await asked).status == 200


async def test_an_instance_whose_tail_stands_still_says_so_and_never_404(
    api: Api, start_api: StartApi, acme: Tenant
) -> None:
    async with start_api() as other:
        other.feed.paused = True
        job_id = await submit(api, acme)
        answer = await other.call("GET", f"/api/v1/jobs/{job_id}", acme.key)
        assert (answer.status, answer.json["error"], answer.headers["Retry-After"]) == (503, "catching_up", "1")


async def test_a_job_that_never_was_is_404_without_waiting_for_the_deadline(api: Api, acme: Tenant) -> None:
    async with asyncio.timeout(1.5):
        for job_id in (uuid7(), "00000000-0000-7000-8000-000000000000", "not-an-id", "%00"):
            assert (await api.call("GET", f"/api/v1/jobs/{job_id}", acme.key)).status == 404


async def test_an_end_is_told_only_once_postgres_has_it(api: Api, acme: Tenant, pocket: PocketLedger) -> None:
    completed, failed, cancelled = [await submit(api, acme) for _ in range(3)]
    pocket.extract(acme.partition, acme.org_id, completed, EXTRACTED)
    pocket.ack(acme.partition, acme.org_id, completed)
    pocket.run(acme.partition, acme.org_id, failed, outcome=Failed(error_type="internal"))
    assert (await api.call("POST", f"/api/v1/jobs/{cancelled}/cancel", acme.key)).status == 202

    async def statuses() -> list[str]:
        asked = {"jobIds": [completed, failed, cancelled]}
        answer = (await api.call("POST", "/api/v1/jobs/batch-status", acme.key, asked)).json
        for job in answer["jobs"]:
            single = await api.call("GET", f"/api/v1/jobs/{job['jobId']}", acme.key)
            assert single.json["status"] == job["status"]
        return [job["status"] for job in answer["jobs"]]

    assert await statuses() == ["extraction_done", "running", "pending"]
    gate = (await api.call("GET", f"/api/v1/jobs/{completed}", acme.key)).json["gate"]
    assert gate == {"expected": 1, "acked": 1, "waived": [], "pending": [], "openedBy": [], "openedAt": None}
    pocket.project()
    assert await statuses() == ["completed", "failed", "cancelled"]


async def test_the_tail_lets_go_of_a_job_when_postgres_has_it(api: Api, acme: Tenant, pocket: PocketLedger) -> None:
    job_id = await submit(api, acme)
    assert (await api.call("GET", f"/api/v1/jobs/{job_id}", acme.key)).status == 200
    assert api.tail.jobs_held == 1
    pocket.project()

    async def is_let_go() -> bool:
        assert (await api.call("GET", f"/api/v1/jobs/{job_id}", acme.key)).status == 200
        return api.tail.jobs_held == 0

    await eventually(is_let_go)
