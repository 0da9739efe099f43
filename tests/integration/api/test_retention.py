"""Scenario 45 at the API and in Postgres: what is past retention is found, and its absence says why."""

from psycopg_pool import AsyncConnectionPool

from api.config.store import Pool
from services.ledger.commands import ExpireJob
from services.ledger.replies import Answer, Done
from services.ledger.reports import Extracted
from services.runtime.blob import BlobStore, blob_key
from services.runtime.settings import Settings
from services.scheduler.retained import StoredRetained
from services.writers.postgres.writer import PostgresWriter
from tests.eventually import eventually
from tests.integration.api.conftest import OPERATOR, Api, Tenant, submit
from tests.integration.api.pocket import PocketLedger
from tests.integration.api.test_delete import delete
from tests.unit.writers.fakes import delivery

PAGE = b"<html>past</html>"
FOR_EVER = 100 * 366 * 86_400


async def stored_job(api: Api, tenant: Tenant, pocket: PocketLedger, settings: Settings) -> str:
    """A completed job with its body and its row."""
    job_id = await submit(api, tenant)
    ref = blob_key(tenant.org_id, job_id, 1, "body")
    await BlobStore(settings.blobs).put(ref, PAGE)
    pocket.extract(
        tenant.partition, tenant.org_id, job_id, Extracted(result_ref=ref, content_type="text/html", items=1)
    )
    pocket.ack(tenant.partition, tenant.org_id, job_id)
    pocket.project()
    await write(settings, tenant, job_id)
    return job_id


async def write(settings: Settings, tenant: Tenant, job_id: str, *, erase: bool = False) -> None:
    """Do as the writer of Postgres does."""
    writer = PostgresWriter(settings.postgres, BlobStore(settings.blobs))
    await writer.write([delivery(1, org_id=tenant.org_id, job_id=job_id, extraction_ref="", erase=erase)])
    await writer.close()


def ask(pocket: PocketLedger, tenant: Tenant, job_id: str) -> Answer:
    """Ask whether the results of a job are past retention."""
    command = ExpireJob(command_id=f"y-{job_id}", org_id=tenant.org_id, job_id=job_id, requester=pocket.boot_id)
    return pocket.decide(tenant.partition, command).body


async def expire(api: Api, pocket: PocketLedger, tenant: Tenant, job_id: str) -> None:
    """Let the results of a job expire as soon as the ledger lets them."""
    limited = await api.call("PATCH", f"/api/v1/orgs/{tenant.org_id}", OPERATOR, {"retentionSeconds": 1})
    assert (limited.status, limited.json["retentionSeconds"]) == (200, 1)
    await eventually(lambda: ask(pocket, tenant, job_id) == Done())


async def test_45_results_past_retention_are_answered_as_such_and_the_job_as_ever(
    api: Api, acme: Tenant, rival: Tenant, pocket: PocketLedger, with_operator: Settings
) -> None:
    job_id = await stored_job(api, acme, pocket, with_operator)
    result, row = f"/api/v1/jobs/{job_id}/result", f"/api/v1/extraction/results/{job_id}"
    before = await api.call("GET", f"/api/v1/jobs/{job_id}", acme.key)
    assert (before.json["dataState"], before.json["expiredAt"]) == ("kept", None)
    assert [(await api.call("GET", path, acme.key)).status for path in (result, row)] == [200, 200]
    await expire(api, pocket, acme, job_id)

    await write(with_operator, acme, job_id, erase=True)  # before Postgres knows why
    assert [(await api.call("GET", path, acme.key)).status for path in (result, row)] == [410, 410]
    pocket.project()
    for path in (result, row):
        answer = await api.call("GET", path, acme.key)
        assert (answer.status, answer.json["error"]) == (410, "results_expired")
        assert answer.json["message"].startswith("past retention")
    listed = (await api.call("GET", "/api/v1/extractions", acme.key)).json
    assert (listed["extractions"], listed["emptyReason"]) == ([], "past retention")
    assert (await api.call("GET", "/api/v1/extractions?domain=other.example", acme.key)).json["emptyReason"] is None
    assert (await api.call("GET", "/api/v1/extractions", rival.key)).json["emptyReason"] is None

    job = (await api.call("GET", f"/api/v1/jobs/{job_id}", acme.key)).json
    assert (job["status"], job["dataState"], job["url"]) == ("completed", "expired", before.json["url"])
    assert job["transitions"] == before.json["transitions"]
    assert job["expiredAt"] >= job["completedAt"]
    [line] = (await api.call("GET", "/api/v1/jobs", acme.key)).json["jobs"]
    assert line["expiredAt"] == job["expiredAt"]
    deliveries = (await api.call("GET", f"/api/v1/jobs/{job_id}/deliveries", acme.key)).json["deliveries"]
    assert [each["destinationId"] for each in deliveries] == ["internal-postgres"]
    why = (await api.call("GET", f"/api/v1/jobs/{job_id}/explain", acme.key)).json
    assert why["expiredAt"] == job["expiredAt"]
    assert why["message"].endswith(f"purged since {job['expiredAt']}, 1 stores have not said so yet")
    again = f"/api/v1/jobs/{job_id}/deliveries/internal-postgres/redeliver"
    refused = await api.call("POST", again, acme.key)
    assert (refused.status, refused.json["error"]) == (410, "results_expired")
    earlier = await api.call("GET", f"/api/v1/jobs/{job_id}?at={job['completedAt']}", acme.key)
    assert (earlier.json["status"], earlier.json["dataState"]) == ("completed", "kept")

    assert (await delete(api, acme, pocket, job_id)).status == 200
    assert (await api.call("GET", row, acme.key)).status == 404
    assert (await api.call("GET", "/api/v1/extractions", acme.key)).json["emptyReason"] is None


async def test_45_a_late_write_does_not_bring_a_purged_row_back(
    api: Api, acme: Tenant, pocket: PocketLedger, with_operator: Settings
) -> None:
    job_id = await stored_job(api, acme, pocket, with_operator)
    await expire(api, pocket, acme, job_id)
    await write(with_operator, acme, job_id, erase=True)
    await write(with_operator, acme, job_id)
    pocket.project()
    assert (await api.call("GET", "/api/v1/extractions", acme.key)).json["extractions"] == []
    assert BlobStore(with_operator.blobs).keys(f"{acme.org_id}/{job_id}") == []


async def test_45_the_sweep_finds_what_is_past_retention_of_each_org_by_its_own_time(
    api: Api, acme: Tenant, rival: Tenant, pocket: PocketLedger, with_operator: Settings
) -> None:
    jobs = [await stored_job(api, acme, pocket, with_operator) for _ in range(3)]
    theirs = await stored_job(api, rival, pocket, with_operator)
    await submit(api, acme)  # has not ended
    pocket.project()
    pool: Pool = AsyncConnectionPool(with_operator.postgres, min_size=1, max_size=1, open=False)
    async with pool:
        at_once, later, never = (StoredRetained(pool, seconds) for seconds in (1, FOR_EVER, 0))

        async def found(retained: StoredRetained) -> list[str]:
            return [each.job_id for each in await retained.look({}, ())]

        async def all_of_them() -> bool:
            return sorted(await found(at_once)) == sorted([*jobs, theirs])

        await eventually(all_of_them)
        assert await found(later) == await found(never) == []
        await api.call("PATCH", "/api/v1/orgs/acme", OPERATOR, {"retentionSeconds": 1})
        assert await found(later) == await found(never) == jobs
        await api.call("PATCH", "/api/v1/orgs/rival", OPERATOR, {"retentionSeconds": FOR_EVER})
        assert await found(at_once) == jobs

        [first, *_] = await at_once.look({}, ())
        assert [each.job_id for each in await at_once.look({"acme": first}, ())] == jobs[1:]
        assert await at_once.look({}, (acme.partition,)) == []
        assert ask(pocket, acme, jobs[0]) == Done()
        pocket.project()
        assert await found(at_once) == jobs[1:]
