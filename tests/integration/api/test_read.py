"""Reading jobs that Postgres has."""

import re

from schemas.values import NodeOutcome
from services.ledger.reports import Extracted, Failed, NodeReport
from tests.integration.api.conftest import Api, Tenant, submit
from tests.integration.api.pocket import PocketLedger

MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
EXTRACTED = Extracted(result_ref="acme/x/1/body", content_type="text/html", result_bytes=3)


async def test_a_completed_job_shows_its_trace_its_transitions_and_the_acks_that_opened_its_gate(
    api: Api, acme: Tenant, pocket: PocketLedger
) -> None:
    job_id = await submit(api, acme, input={"a": 1}, metadata={"b": None})
    pocket.extract(acme.partition, acme.org_id, job_id, EXTRACTED)
    pocket.ack(acme.partition, acme.org_id, job_id)
    pocket.project()
    answer = await api.call("GET", f"/api/v1/jobs/{job_id}", acme.key)
    assert answer.status == 200
    job = answer.json
    assert (job["jobId"], job["status"], job["workflowId"], job["version"]) == (job_id, "completed", "products", 1)
    assert (job["url"], job["input"], job["metadata"]) == ("https://shop.example/1", {"a": 1}, {"b": None})
    assert [step["status"] for step in job["transitions"]] == ["pending", "running", "extraction_done", "completed"]
    assert all(MOMENT.fullmatch(step["at"]) for step in job["transitions"])
    assert all(MOMENT.fullmatch(job[name]) for name in ("createdAt", "updatedAt", "completedAt"))
    [visit] = job["executionTrace"]
    assert (visit["node"], visit["provider"], visit["attempt"], visit["outcome"]) == ("fetch", "direct", 1, "succeeded")
    assert (visit["statusCode"], visit["latencyMs"], visit["edge"]) == (200, 12, "success")
    assert (job["gate"]["expected"], job["gate"]["acked"], job["gate"]["pending"]) == (1, 1, [])
    assert len(job["gate"]["openedBy"]) == 1
    assert (job["errorType"], job["errorMessage"], job["scheduleId"]) == (None, None, None)
    assert answer.headers["Ledger-Position"].startswith(f"{acme.partition}:")


async def test_a_failed_job_says_why_and_where(api: Api, acme: Tenant, pocket: PocketLedger) -> None:
    job_id = await submit(api, acme)
    visit = NodeReport(step=0, node_id="fetch", node_kind="service", outcome=NodeOutcome.REFUSED, rule="captcha")
    failed = Failed(error_type="validation_failed", rule="captcha", node_id="fetch", private=b'\0{"message":"a wall"}')
    pocket.run(acme.partition, acme.org_id, job_id, visit, outcome=failed)
    pocket.project()
    job = (await api.call("GET", f"/api/v1/jobs/{job_id}", acme.key)).json
    assert (job["status"], job["errorType"], job["errorMessage"]) == ("failed", "validation_failed", "a wall")
    assert (job["rule"], job["failedNode"]) == ("captcha", "fetch")
    assert job["executionTrace"][0]["rule"] == "captcha"


async def test_the_list_pages_newest_first_and_stays_stable_while_jobs_arrive(
    api: Api, acme: Tenant, pocket: PocketLedger
) -> None:
    first = [await submit(api, acme, f"https://shop.example/{number}") for number in range(5)]
    pocket.project()
    page = (await api.call("GET", "/api/v1/jobs?limit=2", acme.key)).json
    seen = [job["jobId"] for job in page["jobs"]]
    await submit(api, acme)
    pocket.project()
    while page["nextCursor"]:
        page = (await api.call("GET", f"/api/v1/jobs?limit=2&cursor={page['nextCursor']}", acme.key)).json
        seen += [job["jobId"] for job in page["jobs"]]
    assert seen == first[::-1]


async def test_the_list_can_be_narrowed_to_one_status(api: Api, acme: Tenant, pocket: PocketLedger) -> None:
    jobs = [await submit(api, acme) for _ in range(3)]
    pocket.extract(acme.partition, acme.org_id, jobs[1], EXTRACTED)
    pocket.project()
    found = (await api.call("GET", "/api/v1/jobs?status=extraction_done", acme.key)).json
    assert [job["jobId"] for job in found["jobs"]] == [jobs[1]]


async def test_a_strange_query_is_named(api: Api, acme: Tenant) -> None:
    for query, field in (
        ("limit=0", "limit"),
        ("limit=501", "limit"),
        ("limit=x", "limit"),
        ("status=done", "status"),
        ("cursor=%00", "cursor"),
        ("cursor=abc", "cursor"),
        ("colour=red", "colour"),
    ):
        answer = await api.call("GET", f"/api/v1/jobs?{query}", acme.key)
        assert (answer.status, answer.json["field"]) == (422, field), query


async def test_batch_status_answers_in_the_order_asked_and_names_what_it_does_not_know(
    api: Api, acme: Tenant, pocket: PocketLedger
) -> None:
    stored, fresh = await submit(api, acme), ""
    pocket.project()
    fresh = await submit(api, acme)
    unknown = "00000000-0000-7000-8000-000000000000"
    asked = {"jobIds": [fresh, "junk\u2028", stored, unknown, fresh]}
    answer = (await api.call("POST", "/api/v1/jobs/batch-status", acme.key, asked)).json
    assert [job["jobId"] for job in answer["jobs"]] == [fresh, stored]
    assert {job["status"] for job in answer["jobs"]} == {"pending"}
    assert answer["unknown"] == ["junk\u2028", unknown]


async def test_cancelling_is_accepted_once_and_refused_after_the_end(
    api: Api, acme: Tenant, pocket: PocketLedger
) -> None:
    job_id = await submit(api, acme)
    accepted = await api.call("POST", f"/api/v1/jobs/{job_id}/cancel", acme.key)
    assert (accepted.status, accepted.json) == (202, {"jobId": job_id, "accepted": True})
    before_projection = await api.call("POST", f"/api/v1/jobs/{job_id}/cancel", acme.key)
    assert (before_projection.status, before_projection.json["error"]) == (409, "job_terminal")
    pocket.project()
    assert (await api.call("GET", f"/api/v1/jobs/{job_id}", acme.key)).json["status"] == "cancelled"
    after_projection = await api.call("POST", f"/api/v1/jobs/{job_id}/cancel", acme.key)
    assert (after_projection.status, after_projection.json["error"]) == (409, "job_terminal")
    assert before_projection.json["status"] == after_projection.json["status"] == "cancelled"


async def test_the_error_of_a_cancelled_job_is_cancelled_wherever_it_is_told(
    api: Api, acme: Tenant, pocket: PocketLedger
) -> None:
    job_id, other = await submit(api, acme), await submit(api, acme)
    assert (await api.call("POST", f"/api/v1/jobs/{job_id}/cancel", acme.key)).status == 202
    pocket.project()
    path = f"/api/v1/jobs/{job_id}"
    told = [
        (await api.call("GET", f"{path}{more}", acme.key)).json for more in ("", "/explain", "?at=2099-01-01T00:00:00Z")
    ]
    assert [(each["status"], each["errorType"]) for each in told] == [("cancelled", "cancelled")] * 3
    for query, expected in (
        ("errorType=cancelled", [job_id]),
        ("errorType=cancelled&status=cancelled&status=failed", [job_id]),
        ("errorType=cancelled&status=failed", []),
        ("status=cancelled", [job_id]),
        ("errorType=internal", []),
        ("", [other, job_id]),
    ):
        listed = (await api.call("GET", f"/api/v1/jobs?{query}", acme.key)).json["jobs"]
        assert [job["jobId"] for job in listed] == expected, query
        assert all(job["errorType"] == ((job["status"] == "cancelled" and "cancelled") or None) for job in listed)


async def test_a_cancel_that_is_repeated_with_its_key_gets_the_answer_of_the_first_and_others_do_not(
    api: Api, acme: Tenant, pocket: PocketLedger
) -> None:
    async def cancel(job_id: str, key: str) -> tuple[int, str | None]:
        headers = {"Idempotency-Key": key} if key else {}
        said = await api.call("POST", f"/api/v1/jobs/{job_id}/cancel", acme.key, headers=headers)
        return said.status, said.json.get("status")

    job_id, other, done = [await submit(api, acme) for _ in range(3)]
    pocket.extract(acme.partition, acme.org_id, done, EXTRACTED)
    pocket.ack(acme.partition, acme.org_id, done)
    assert await cancel(job_id, "stop-17") == (202, None)
    for _ in ("only the ledger has it", "Postgres has it too"):
        assert await cancel(job_id, "stop-17") == (202, None)
        assert await cancel(job_id, "stop-18") == (409, "cancelled")
        assert await cancel(job_id, "") == (409, "cancelled")
        assert await cancel(done, "stop-17") == (409, "completed")
        pocket.project()
    assert await cancel(other, "stop-17") == (202, None), "a key is of one job"
    assert await cancel(other, "not ascii \u00e9") == (422, None)
    told = (await api.call("GET", f"/api/v1/jobs/{job_id}/events", acme.key)).json["events"]
    assert [each["type"] for each in told].count("JobCancelled") == 1
