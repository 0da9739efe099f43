"""Jobs that name no workflow run the one whose route their host falls under."""

import asyncio
from typing import Any

import pytest

from services.ledger.commands import SubmitJobs
from tests.integration.api.conftest import WORKFLOW, Answered, Api, Tenant, submit
from tests.integration.api.pocket import PocketLedger


async def routed(api: Api, tenant: Tenant, workflow_id: str, *routes: str) -> Answered:
    """Publish a workflow with these routes."""
    document = {**WORKFLOW, "name": workflow_id, "routes": list(routes)}
    body = {"workflowId": workflow_id, "document": document, "publish": True}
    return await api.call("POST", "/api/v1/workflows", tenant.key, body)


async def run_by(api: Api, tenant: Tenant, url: str) -> Any:
    job = await api.call("GET", f"/api/v1/jobs/{await submit(api, tenant, url)}", tenant.key)
    return job.json["workflowId"]


@pytest.mark.parametrize(
    ("url", "workflow_id"),
    [
        ("https://example.com/", "site"),
        ("https://www.example.com/", "site"),
        ("https://a.b.shop.example.com/", "shop"),
        ("https://SHOP.Example.COM:8443/x?y#z", "shop"),
        ("https://shop.example.com./", "shop"),
        ("https://myshop.example.com/", "site"),
        ("https://notexample.com/", "rest"),
        ("https://example.com.evil.example/", "rest"),
        ("https://www.b\u00fccher.example/", "books"),
        ("https://XN--BCHER-KVA.example/", "books"),
        ("https://shop\u3002example\uff0ecom/", "shop"),
        ("https://8.8.8.8/", "address"),
        ("https://9.8.8.8/", "rest"),
    ],
)
async def test_the_most_specific_route_wins(api: Api, acme: Tenant, url: str, workflow_id: str) -> None:
    for name, *routes in (
        ("rest", "*"),
        ("site", "domain:example.com"),
        ("shop", "domain:Shop.Example.com."),
        ("books", "domain:B\u00fccher.example"),
        ("address", "domain:8.8.8.8"),
    ):
        assert (await routed(api, acme, name, *routes)).status == 201
    assert await run_by(api, acme, url) == workflow_id


async def test_a_url_with_a_user_name_is_refused_whatever_it_looks_like(api: Api, acme: Tenant) -> None:
    await routed(api, acme, "site", "domain:example.com")
    refused = await api.call("POST", "/api/v1/jobs", acme.key, {"url": "https://example.com@other.example/"})
    assert (refused.status, refused.json["field"]) == (422, "url")


async def test_a_host_without_a_route_is_named(api: Api, acme: Tenant, pocket: PocketLedger) -> None:
    await routed(api, acme, "site", "domain:example.com")
    body = {"urls": ["https://example.com/", "https://other.example/"]}
    refused = await api.call("POST", "/api/v1/jobs", acme.key, body)
    assert (refused.status, refused.json["error"], refused.json["field"]) == (422, "no_route", "urls[1]")
    assert "other.example" in refused.json["message"]
    assert not any(isinstance(command, SubmitJobs) for command in pocket.commands)
    named = await api.call("POST", "/api/v1/jobs", acme.key, {**body, "workflowId": "products"})
    assert named.status == 201


async def test_each_url_of_a_submission_is_routed_by_itself_and_the_decision_stays_with_the_job(
    api: Api, acme: Tenant, pocket: PocketLedger
) -> None:
    await routed(api, acme, "a", "domain:a.example")
    await routed(api, acme, "b", "domain:b.example")
    urls = ["https://a.example/1", "https://b.example/2", "https://x.a.example/3"]
    headers = {"Idempotency-Key": "mixed"}
    made = (await api.call("POST", "/api/v1/jobs", acme.key, {"urls": urls}, headers=headers)).json["jobs"]
    await routed(api, acme, "c", "domain:x.a.example")
    repeated = await api.call("POST", "/api/v1/jobs", acme.key, {"urls": urls}, headers=headers)
    assert (repeated.status, repeated.json["jobs"]) == (200, made)
    pocket.project()
    for stored in (True, False):
        for job, workflow_id in zip(made, ("a", "b", "a"), strict=True):
            shown = (await api.call("GET", f"/api/v1/jobs/{job['jobId']}", acme.key)).json
            assert (shown["workflowId"], shown["version"]) == (workflow_id, 1), stored


async def test_two_published_workflows_cannot_have_the_same_route(api: Api, acme: Tenant, rival: Tenant) -> None:
    await routed(api, acme, "first", "domain:example.com", "*")
    refused = await routed(api, acme, "second", "domain:EXAMPLE.com")
    assert (refused.status, refused.json["error"], refused.json["workflowId"]) == (409, "route_conflict", "first")
    assert (await routed(api, acme, "third", "*")).json["route"] == "*"
    assert (await routed(api, acme, "fourth", "domain:www.example.com")).status == 201  # more specific: no conflict
    assert (await routed(api, rival, "theirs", "domain:example.com")).status == 201
    assert (await routed(api, acme, "first", "domain:example.com", "*", "domain:more.example")).status == 201
    assert (await api.call("POST", "/api/v1/workflows/first/unpublish", acme.key)).status == 200
    assert (await routed(api, acme, "second", "domain:example.com")).status == 201


async def test_of_two_that_publish_the_same_route_at_once_one_has_it(api: Api, acme: Tenant) -> None:
    names = [f"w{number}" for number in range(8)]
    made = await asyncio.gather(
        *(routed(api, acme, name, "domain:example.com", f"domain:{name}.org") for name in names)
    )
    assert sorted(answer.status for answer in made) == [201] + [409] * 7
    [winner] = [answer.json["workflowId"] for answer in made if answer.status == 201]
    assert {answer.json["workflowId"] for answer in made} == {winner}
    assert await run_by(api, acme, "https://example.com/") == winner


async def test_routes_are_those_of_the_published_version(api: Api, acme: Tenant) -> None:
    await routed(api, acme, "w", "domain:old.example")
    await routed(api, acme, "w", "domain:new.example")
    assert await run_by(api, acme, "https://new.example/") == "w"
    old = await api.call("POST", "/api/v1/jobs", acme.key, {"url": "https://old.example/"})
    assert (old.status, old.json["error"]) == (422, "no_route")
    assert (await api.call("POST", "/api/v1/workflows/w/publish", acme.key, {"version": 1})).status == 200
    assert await run_by(api, acme, "https://old.example/") == "w"


@pytest.mark.parametrize(
    "route", ["domain:", "example.com", "domain:a/b", "domain:a:80", "domain:*.a", "domain:u@a", "**"]
)
async def test_what_is_no_route_is_named(api: Api, acme: Tenant, route: str) -> None:
    refused = await routed(api, acme, "w", "*", route)
    assert (refused.status, refused.json["error"], refused.json["field"]) == (
        422,
        "workflow_invalid",
        "document.routes[1]",
    )
    assert [fault["code"] for fault in refused.json["faults"]] == ["bad_route"]
