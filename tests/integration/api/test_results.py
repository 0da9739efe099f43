"""The scraped body and the extraction row."""

import uuid

import psycopg

from services.ledger.reports import Extracted
from services.runtime.blob import BlobStore, blob_key
from services.runtime.settings import Settings
from tests.integration.api.conftest import Api, Tenant, submit
from tests.integration.api.pocket import PocketLedger

PAGE = "<html><script>alert(1)</script>ä</html>".encode()


async def _extracted(api: Api, acme: Tenant, pocket: PocketLedger, settings: Settings, content_type: str) -> str:
    job_id = await submit(api, acme)
    ref = blob_key(acme.org_id, job_id, 1, "body")
    await BlobStore(settings.blobs).put(ref, PAGE)
    extracted = Extracted(result_ref=ref, content_type=content_type, result_bytes=len(PAGE))
    pocket.extract(acme.partition, acme.org_id, job_id, extracted)
    return job_id


async def test_the_body_of_a_completed_job_comes_as_it_was_stored_and_cannot_run_here(
    api: Api, acme: Tenant, pocket: PocketLedger, with_operator: Settings
) -> None:
    job_id = await _extracted(api, acme, pocket, with_operator, "text/html; charset=utf-8")
    pocket.ack(acme.partition, acme.org_id, job_id)
    pocket.project()
    answer = await api.call("GET", f"/api/v1/jobs/{job_id}/result", acme.key)
    assert (answer.status, answer.body) == (200, PAGE)
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Content-Disposition"] == f'attachment; filename="{job_id}.html"'
    assert "sandbox" in answer.headers["Content-Security-Policy"]


async def test_a_content_type_that_is_none_is_served_as_bytes(
    api: Api, acme: Tenant, pocket: PocketLedger, with_operator: Settings
) -> None:
    job_id = await _extracted(api, acme, pocket, with_operator, "text/html\r\nSet-Cookie: a=b")
    pocket.ack(acme.partition, acme.org_id, job_id)
    pocket.project()
    answer = await api.call("GET", f"/api/v1/jobs/{job_id}/result", acme.key)
    assert (answer.status, answer.headers["Content-Type"]) == (200, "application/octet-stream")
    assert "Set-Cookie" not in answer.headers


async def test_before_completion_there_is_no_result_and_the_answer_says_where_the_job_stands(
    api: Api, acme: Tenant, pocket: PocketLedger, with_operator: Settings
) -> None:
    job_id = await submit(api, acme)
    fresh = await api.call("GET", f"/api/v1/jobs/{job_id}/result", acme.key)
    assert (fresh.status, fresh.json["error"], fresh.json["status"]) == (409, "not_ready", "pending")
    other = await _extracted(api, acme, pocket, with_operator, "text/html")
    pocket.project()
    waiting = await api.call("GET", f"/api/v1/jobs/{other}/result", acme.key)
    assert (waiting.status, waiting.json["error"], waiting.json["status"]) == (409, "not_ready", "extraction_done")


async def test_an_extraction_is_on_its_way_then_there_and_404_for_a_job_that_has_none(
    api: Api, acme: Tenant, rival: Tenant, pocket: PocketLedger, with_operator: Settings
) -> None:
    job_id = await _extracted(api, acme, pocket, with_operator, "text/html")
    path = f"/api/v1/extraction/results/{job_id}"
    early = await api.call("GET", path, acme.key)
    assert (early.status, early.json["retryAfterSeconds"], early.headers["Retry-After"]) == (202, 1, "1")
    stored(with_operator, job_id)
    answer = await api.call("GET", path, acme.key)
    assert answer.status == 200
    assert (answer.json["jobId"], answer.json["orgId"], answer.json["normalized"]) == (job_id, "acme", {"price": 1.5})
    assert (answer.json["qualityComposite"], answer.json["latencyMs"], answer.json["schemaId"]) == (0.75, 12, "s1")
    assert (await api.call("GET", path, rival.key)).status == 404
    pending = await submit(api, acme)
    missing = await api.call("GET", f"/api/v1/extraction/results/{pending}", acme.key)
    assert (missing.status, missing.json["status"]) == (404, "pending")


async def test_extractions_are_listed_newest_first_by_domain_or_url_with_those_on_their_way(
    api: Api, acme: Tenant, rival: Tenant, pocket: PocketLedger, with_operator: Settings
) -> None:
    jobs = [await _extracted(api, acme, pocket, with_operator, "text/html") for _ in range(4)]
    pocket.project()
    for job_id in jobs[:3]:
        stored(with_operator, job_id)
    pocket.ack(acme.partition, acme.org_id, jobs[0])
    pocket.project()

    async def listed(query: str, key: str = acme.key) -> tuple[list[str], bool, int]:
        answer = await api.call("GET", f"/api/v1/extractions{query}", key)
        assert answer.status == 200, answer.json
        found = [row["jobId"] for row in answer.json["extractions"]]
        return found, answer.json["hasMore"], answer.json["indexingPending"]

    newest = jobs[2::-1]
    assert await listed("") == (newest, False, 3), "a job waits for its ACK until that has come, row or no row"
    assert await listed("?page=1&pageSize=2") == (newest[:2], True, 3)
    assert await listed("?page=2&pageSize=2") == (newest[2:], False, 3)
    assert await listed("?domain=shop.example&url=https://shop.example/1") == (newest, False, 3)
    assert await listed("?domain=other.example") == ([], False, 0)
    assert await listed("?url=https://shop.example/2") == ([], False, 0)
    assert await listed("", rival.key) == ([], False, 0)
    await api.call("DELETE", f"/api/v1/jobs/{jobs[2]}", acme.key)
    pocket.project()
    assert await listed("") == (newest[1:], False, 2), "of a deleted job its writer takes the row away a moment later"
    too_far = await api.call("GET", "/api/v1/extractions?page=1002&pageSize=100", acme.key)
    assert (too_far.status, too_far.json["field"]) == (422, "page")


def stored(settings: Settings, job_id: str) -> None:
    """Do as the writer of the internal destination does."""
    with psycopg.connect(settings.postgres) as connection:
        connection.execute(
            """
            INSERT INTO extraction.stored_results (
                id, org_id, job_id, destination_id, generation, domain, schema_id, data_type, normalized,
                raw_blob_key, quality_completeness, quality_validation, quality_composite, latency_ms,
                delivered_at, created_at)
            VALUES (%s, 'acme', %s, 'internal-postgres', 1, 'shop.example', 's1', 'product', '{"price": 1.5}',
                'k', 1, 0.5, 0.75, 12, now(), now())
            """,
            (uuid.uuid4(), job_id),
        )


async def test_extractions_are_asked_for_by_a_url_as_long_as_one_may_be(api: Api, acme: Tenant) -> None:
    url = "https://shop.example/" + "ä" * 4000  # six bytes each, percent-encoded
    found = await api.call("GET", "/api/v1/extractions", acme.key, params={"url": url})
    assert (found.status, found.json["extractions"]) == (200, [])
