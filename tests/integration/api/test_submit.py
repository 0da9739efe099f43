"""Submitting jobs."""

import asyncio

from services.ledger.commands import SubmitJobs
from tests.integration.api.conftest import WORKFLOW, Api, Tenant, submit
from tests.integration.api.pocket import PocketLedger


async def test_one_url_makes_one_job_and_names_where_it_is(api: Api, acme: Tenant) -> None:
    made = await api.call("POST", "/api/v1/jobs", acme.key, {"url": "https://shop.example/1"})
    assert made.status == 201
    assert made.json == {"jobId": made.json["jobId"], "status": "pending"}
    assert made.headers["Location"] == f"/api/v1/jobs/{made.json['jobId']}"
    partition, _, position = made.headers["Ledger-Position"].partition(":")
    assert int(partition) == acme.partition
    assert int(position) > 0


async def test_what_was_submitted_is_what_the_ledger_records(api: Api, acme: Tenant, pocket: PocketLedger) -> None:
    await submit(api, acme, "https://Shop.Example/ä?q=1", input={"a": [1]}, metadata={"tag": "ü"}, priority=7)
    command = pocket.commands[-1]
    assert isinstance(command, SubmitJobs)
    [job] = command.jobs
    assert job.domain == "shop.example"
    assert job.private == '\0{"url":"https://Shop.Example/ä?q=1","input":{"a":[1]},"metadata":{"tag":"ü"}}'.encode()
    assert (command.workflow_id, command.workflow_version, command.priority) == ("products", 1, 7)
    assert [place.destination_id for place in command.destinations] == ["internal-postgres"]
    assert len(command.idempotency_digest) == len(command.request_digest) == 16
    assert command.actor.startswith("api:")


async def test_many_urls_make_jobs_in_their_order_in_commands_of_500(
    api: Api, acme: Tenant, pocket: PocketLedger
) -> None:
    urls = [f"https://shop.example/{number}" for number in range(1201)]
    made = await api.call("POST", "/api/v1/jobs", acme.key, {"urls": urls})
    assert made.status == 201
    ids = [job["jobId"] for job in made.json["jobs"]]
    sent = [command for command in pocket.commands if isinstance(command, SubmitJobs)]
    assert [len(command.jobs) for command in sent] == [500, 500, 201]
    assert ids == [job.job_id for command in sent for job in command.jobs]
    assert urls[700].encode() in sent[1].jobs[200].private
    assert len({command.idempotency_digest for command in sent}) == 3


async def test_ten_thousand_urls_are_taken(api: Api, acme: Tenant) -> None:
    urls = ["https://shop.example/"] * 10_000
    made = await api.call("POST", "/api/v1/jobs", acme.key, {"urls": urls})
    assert len(made.json["jobs"]) == 10_000


async def test_20_parallel_posts_with_one_key_make_one_job_and_20_equal_answers(
    api: Api, acme: Tenant, pocket: PocketLedger
) -> None:
    body = {"url": "https://shop.example/1"}
    headers = {"Idempotency-Key": "order-1"}
    made = await asyncio.gather(*(api.call("POST", "/api/v1/jobs", acme.key, body, headers=headers) for _ in range(20)))
    assert len({answer.body for answer in made}) == 1
    assert sorted(answer.status for answer in made) == [200] * 19 + [201]
    assert [entry.event_type for entry in pocket.entries].count("JobSubmitted") == 1


async def test_another_body_under_a_used_key_is_a_conflict_whatever_its_size(
    api: Api, acme: Tenant, pocket: PocketLedger
) -> None:
    headers = {"Idempotency-Key": "order-1"}
    few, many = ["https://shop.example/1"], ["https://shop.example/1"] * 1500
    assert (await api.call("POST", "/api/v1/jobs", acme.key, {"urls": few}, headers=headers)).status == 201
    refused = await api.call("POST", "/api/v1/jobs", acme.key, {"urls": many}, headers=headers)
    assert (refused.status, refused.json["error"]) == (409, "idempotency_conflict")
    assert [entry.event_type for entry in pocket.entries].count("JobSubmitted") == 1


async def test_the_same_body_in_another_spelling_is_the_same_request(api: Api, acme: Tenant) -> None:
    headers = {"Idempotency-Key": "order-1"}
    one = b'{"url":"https://shop.example/1","metadata":{"a":1,"b":2}}'
    other = b'{ "priority": 0, "metadata": {"b": 2, "a": 1}, "url": "https:\\/\\/shop.example\\/1" }'
    first = await api.call("POST", "/api/v1/jobs", acme.key, one, headers=headers)
    second = await api.call("POST", "/api/v1/jobs", acme.key, other, headers=headers)
    assert (first.status, second.status) == (201, 200)
    assert first.json == second.json


async def test_the_keys_of_two_orgs_are_two_keys(api: Api, acme: Tenant, rival: Tenant) -> None:
    headers = {"Idempotency-Key": "order-1"}
    for tenant, url in ((acme, "https://shop.example/1"), (rival, "https://shop.example/2")):
        assert (await api.call("POST", "/api/v1/jobs", tenant.key, {"url": url}, headers=headers)).status == 201


async def test_without_a_decider_the_answer_says_how_to_repeat_safely(
    api: Api, acme: Tenant, pocket: PocketLedger
) -> None:
    pocket.down = True
    body = {"url": "https://shop.example/1"}
    failed = await api.call("POST", "/api/v1/jobs", acme.key, body)
    assert (failed.status, failed.json["error"]) == (503, "ledger_unavailable")
    assert int(failed.headers["Retry-After"]) >= 1
    pocket.down = False
    headers = {"Idempotency-Key": failed.headers["Idempotency-Key"]}
    assert (await api.call("POST", "/api/v1/jobs", acme.key, body, headers=headers)).status == 201
    assert (await api.call("POST", "/api/v1/jobs", acme.key, body, headers=headers)).status == 200


async def test_a_repeat_gets_its_jobs_also_when_their_workflow_is_not_published_any_more(
    api: Api, acme: Tenant, pocket: PocketLedger
) -> None:
    headers = {"Idempotency-Key": "order-1"}
    urls = [f"https://shop.example/{number}" for number in range(700)]
    first = await api.call("POST", "/api/v1/jobs", acme.key, {"urls": urls}, headers=headers)
    assert (await api.call("POST", "/api/v1/workflows/products/unpublish", acme.key)).status == 200
    events = len(pocket.entries)
    again = await api.call("POST", "/api/v1/jobs", acme.key, {"urls": urls}, headers=headers)
    assert (again.status, again.json) == (200, first.json)
    other = await api.call("POST", "/api/v1/jobs", acme.key, {"urls": urls[:3]}, headers=headers)
    assert (other.status, other.json["error"]) == (409, "idempotency_conflict")
    fresh = await api.call("POST", "/api/v1/jobs", acme.key, {"urls": urls}, headers={"Idempotency-Key": "order-2"})
    assert (fresh.status, fresh.json["error"]) == (422, "no_route")
    assert len(pocket.entries) == events


async def test_a_workflow_that_is_not_published_or_not_the_only_one_has_to_be_named(api: Api, acme: Tenant) -> None:
    body = {"workflowId": "second", "document": WORKFLOW}
    assert (await api.call("POST", "/api/v1/workflows", acme.key, body)).status == 201
    job = {"url": "https://shop.example/1"}
    refused = await api.call("POST", "/api/v1/jobs", acme.key, {**job, "workflowId": "second"})
    assert (refused.status, refused.json["error"], refused.json["field"]) == (422, "unknown_workflow", "workflowId")
    assert (await api.call("POST", "/api/v1/jobs", acme.key, job)).status == 201
    assert (await api.call("POST", "/api/v1/workflows/second/publish", acme.key)).status == 200
    ambiguous = await api.call("POST", "/api/v1/jobs", acme.key, job)
    assert (ambiguous.status, ambiguous.json["error"], ambiguous.json["field"]) == (422, "no_route", "url")
    assert (await api.call("POST", "/api/v1/jobs", acme.key, {**job, "workflowId": "second"})).status == 201
