"""Scenario 44 at the API: a deleted job is found by no call any more, whatever comes late."""

import asyncio

import psycopg
from msgspec.structs import replace

from services.ledger.commands import DeleteJob
from services.ledger.reports import Extracted
from services.runtime.blob import blob_key
from services.runtime.settings import Settings
from services.writers.postgres.writer import PostgresWriter
from tests.eventually import eventually
from tests.integration.api.conftest import Answered, Api, Tenant, submit
from tests.integration.api.pocket import PocketLedger
from tests.unit.workers.fakes import MemoryBlobs
from tests.unit.writers.fakes import delivery


async def delete(api: Api, tenant: Tenant, pocket: PocketLedger, job_id: str, path: str = "/api/v1/jobs") -> Answered:
    """Delete a job, and let Postgres learn of it while the caller waits."""
    calling = asyncio.create_task(api.call("DELETE", f"{path}/{job_id}", tenant.key))
    await eventually(lambda: calling.done() or any(isinstance(each, DeleteJob) for each in pocket.commands))
    pocket.project()
    return await calling


async def everywhere(api: Api, tenant: Tenant, job_id: str) -> list[int]:
    """Return the status of every call that reads the job, and how often lists name it."""
    paths = (
        f"jobs/{job_id}",
        f"jobs/{job_id}?at=2100-01-01T00:00:00Z",
        f"jobs/{job_id}/events",
        f"jobs/{job_id}/result",
        f"extraction/results/{job_id}",
    )
    statuses = [(await api.call("GET", f"/api/v1/{path}", tenant.key)).status for path in paths]
    for method in (("POST", f"/api/v1/jobs/{job_id}/cancel"), ("DELETE", f"/api/v1/jobs/{job_id}")):
        statuses.append((await api.call(*method, tenant.key)).status)
    listed = (await api.call("GET", "/api/v1/jobs", tenant.key)).json["jobs"]
    asked = (await api.call("POST", "/api/v1/jobs/batch-status", tenant.key, {"jobIds": [job_id]})).json
    assert job_id not in [job["jobId"] for job in listed]
    assert (asked["jobs"], asked["unknown"]) == ([], [job_id])
    return statuses


async def test_44_a_deleted_job_is_gone_for_every_reader_for_good(
    api: Api, acme: Tenant, pocket: PocketLedger, with_operator: Settings
) -> None:
    job_id = await submit(api, acme)
    ref = blob_key(acme.org_id, job_id, 1, "body")
    pocket.extract(acme.partition, acme.org_id, job_id, Extracted(result_ref=ref, content_type="text/html"))
    pocket.ack(acme.partition, acme.org_id, job_id)
    pocket.project()
    writer = PostgresWriter(with_operator.postgres, MemoryBlobs())
    one = delivery(1, org_id=acme.org_id, job_id=job_id, extraction_ref="")
    await writer.write([one])
    assert (await api.call("GET", f"/api/v1/extraction/results/{job_id}", acme.key)).status == 200

    answer = await delete(api, acme, pocket, job_id)
    assert (answer.status, answer.json) == (200, {"jobId": job_id, "deleted": True})
    assert await everywhere(api, acme, job_id) == [404] * 7
    await writer.write([replace(one, destination_id="erasure", erase=True)])
    await writer.write([replace(one, generation=9)])
    pocket.ack(acme.partition, acme.org_id, job_id, "erasure")
    pocket.project()
    assert await everywhere(api, acme, job_id) == [404] * 7
    await writer.close()
    with psycopg.connect(with_operator.postgres) as connection:
        for table in ("jobs", "job_transitions", "job_trace", "extraction_deliveries"):
            found = connection.execute(
                f"SELECT count(*) FROM ledger_v1.{table} WHERE job_id = %s", (job_id,)
            ).fetchone()
            assert found == (0,), table
        assert connection.execute("SELECT count(*) FROM extraction.extraction_results").fetchone() == (0,)


async def test_44_a_job_that_runs_is_cancelled_and_deleted_in_one(api: Api, acme: Tenant, pocket: PocketLedger) -> None:
    job_id = await submit(api, acme)
    pocket.run(acme.partition, acme.org_id, job_id)
    assert (await delete(api, acme, pocket, job_id)).status == 200
    assert await everywhere(api, acme, job_id) == [404] * 7
    kinds = [entry.event_type for entry in pocket.entries if entry.recorded and entry.recorded.event.job_id == job_id]
    assert kinds[-3:] == ["JobCancelled", "JobDeleted", "DeliveryRequested"]


async def test_44_a_job_that_postgres_never_had_is_hidden_from_the_tail_too(
    api: Api, acme: Tenant, pocket: PocketLedger
) -> None:
    job_id = await submit(api, acme)
    assert (await api.call("GET", f"/api/v1/jobs/{job_id}", acme.key)).status == 200
    pocket.decide(
        acme.partition, DeleteJob(command_id="e", org_id=acme.org_id, job_id=job_id, requester=pocket.boot_id)
    )
    assert (await api.call("GET", f"/api/v1/jobs/{job_id}", acme.key)).status == 404
    assert await everywhere(api, acme, job_id) == [404] * 7


async def test_44_another_org_cannot_delete_a_job(api: Api, acme: Tenant, rival: Tenant) -> None:
    job_id = await submit(api, acme)
    assert (await api.call("DELETE", f"/api/v1/jobs/{job_id}", rival.key)).status == 404
    assert (await api.call("GET", f"/api/v1/jobs/{job_id}", acme.key)).status == 200
