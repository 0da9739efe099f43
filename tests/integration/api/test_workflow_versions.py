"""Versions of workflows: two editors, publishing, cloning, deleting; and what jobs keep of it."""

import asyncio
from typing import Any

import jsonschema

from services.ledger.commands import SubmitJobs
from services.runtime.blob import BlobStore
from services.runtime.settings import Settings
from tests.integration.api.conftest import WORKFLOW, Api, Tenant, submit
from tests.integration.api.pocket import PocketLedger

W = "/api/v1/workflows/w"


def named(name: str, *routes: str) -> dict[str, Any]:
    return {**WORKFLOW, "name": name, "routes": list(routes)}


async def saved(api: Api, tenant: Tenant, workflow_id: str, document: dict[str, Any], publish: bool = True) -> Any:
    body = {"workflowId": workflow_id, "document": document, "publish": publish}
    answer = await api.call("POST", "/api/v1/workflows", tenant.key, body)
    assert answer.status == 201, answer.json
    return answer


async def test_two_editors_do_not_overwrite_each_other(api: Api, acme: Tenant) -> None:
    await saved(api, acme, "w", named("first"), publish=False)
    tag = (await api.call("GET", W, acme.key)).headers["ETag"]
    bodies = [{"document": named(name)} for name in ("of anna", "of ben")]
    made = await asyncio.gather(*(api.call("PUT", W, acme.key, body, headers={"If-Match": tag}) for body in bodies))
    assert sorted(answer.status for answer in made) == [201, 412]
    lost, won = sorted(made, key=lambda answer: -answer.status)
    assert (lost.json["error"], lost.json["field"]) == ("version_changed", "If-Match")
    assert lost.headers["ETag"] == won.headers["ETag"] == '"2"'
    newest = await api.call("GET", f"{W}/versions/2", acme.key)
    assert newest.json["document"]["name"] == won.json["document"]["name"]
    again = await api.call(
        "PUT", W, acme.key, {"document": named("both")}, headers={"If-Match": newest.headers["ETag"]}
    )
    assert (again.status, again.json["version"]) == (201, 3)


async def test_a_published_version_that_is_not_the_newest_cannot_be_taken_for_it(api: Api, acme: Tenant) -> None:
    await saved(api, acme, "w", named("runs"))
    await saved(api, acme, "w", named("draft"), publish=False)
    read = await api.call("GET", W, acme.key)
    assert (read.json["document"]["name"], read.headers["ETag"]) == ("runs", '"1"')
    body = {"document": named("mine")}
    assert (await api.call("PUT", W, acme.key, body, headers={"If-Match": read.headers["ETag"]})).status == 412
    assert (await api.call("PUT", W, acme.key, body, headers={"If-Match": 'W/"2"'})).status == 412
    assert (await api.call("PUT", W, acme.key, body, headers={"If-Match": '"7", "2"'})).status == 201


async def test_an_update_says_what_it_changes(api: Api, acme: Tenant) -> None:
    body = {"document": named("x")}
    assert (await api.call("PUT", W, acme.key, body, headers={"If-Match": "*"})).status == 404
    await saved(api, acme, "w", named("first"))
    blind = await api.call("PUT", W, acme.key, body)
    assert (blind.status, blind.json["error"], blind.json["field"]) == (428, "if_match_missing", "If-Match")
    bad = await api.call("PUT", W, acme.key, body, headers={"If-Match": "1"})
    assert (bad.status, bad.json["error"], bad.json["field"]) == (422, "invalid_field", "If-Match")
    assert (await api.call("PUT", W, acme.key, body, headers={"If-Match": "*"})).status == 201


async def test_publishing_can_be_bound_to_the_version_that_was_seen(api: Api, acme: Tenant) -> None:
    await saved(api, acme, "w", named("seen"), publish=False)
    await saved(api, acme, "w", named("not seen"), publish=False)
    refused = await api.call("POST", f"{W}/publish", acme.key, headers={"If-Match": '"1"'})
    assert (refused.status, refused.json["error"]) == (412, "version_changed")
    assert (await api.call("GET", W, acme.key)).json["state"] == "draft"
    assert (await api.call("POST", f"{W}/publish", acme.key, headers={"If-Match": '"2"'})).json["state"] == "published"


async def test_only_published_versions_run_and_a_job_keeps_the_one_it_was_submitted_with(
    api: Api, acme: Tenant, pocket: PocketLedger
) -> None:
    await saved(api, acme, "w", named("one"))
    first = await submit(api, acme, workflowId="w")
    await saved(api, acme, "w", named("two"))
    second = await submit(api, acme, workflowId="w")
    assert (await api.call("POST", f"{W}/unpublish", acme.key)).json["state"] == "draft"
    assert (await api.call("POST", f"{W}/unpublish", acme.key)).status == 200  # safe to repeat
    refused = await api.call("POST", "/api/v1/jobs", acme.key, {"url": "https://shop.example/", "workflowId": "w"})
    assert (refused.status, refused.json["error"]) == (422, "unknown_workflow")
    for job_id, version in ((first, 1), (second, 2)):
        job = (await api.call("GET", f"/api/v1/jobs/{job_id}", acme.key)).json
        assert (job["workflowId"], job["version"]) == ("w", version)


async def test_versions_are_listed_and_each_can_be_read(api: Api, acme: Tenant) -> None:
    for name in ("a", "b", "c"):
        await saved(api, acme, "w", named(name), publish=name == "b")
    listed = (await api.call("GET", f"{W}/versions", acme.key)).json["versions"]
    assert [(line["version"], line["state"]) for line in listed] == [(3, "draft"), (2, "published"), (1, "draft")]
    names = [(await api.call("GET", f"{W}/versions/{number}", acme.key)).json["document"]["name"] for number in (1, 3)]
    assert names == ["a", "c"]
    for nothing in ("4", "0", "x", "1.0", "9" * 30):
        assert (await api.call("GET", f"{W}/versions/{nothing}", acme.key)).status == 404
    assert (await api.call("GET", "/api/v1/workflows/none/versions", acme.key)).status == 404


async def test_a_clone_is_a_draft_of_its_own(api: Api, acme: Tenant) -> None:
    await saved(api, acme, "w", named("one", "domain:shop.example"))
    await saved(api, acme, "w", named("two", "domain:shop.example"), publish=False)
    made = await api.call("POST", f"{W}/clone", acme.key, {"workflowId": "copy", "name": "copy of one"})
    assert (made.status, made.json["version"], made.json["state"]) == (201, 1, "draft")
    assert made.json["document"] == (await api.call("GET", W, acme.key)).json["document"] | {"name": "copy of one"}
    newer = await api.call("POST", f"{W}/clone", acme.key, {"version": 2})
    assert newer.json["document"]["name"] == "two"
    assert newer.json["workflowId"] not in ("w", "copy")
    taken = await api.call("POST", f"{W}/clone", acme.key, {"workflowId": "copy", "name": "another"})
    assert (taken.status, taken.json["error"], taken.json["field"]) == (409, "workflow_exists", "workflowId")
    conflict = await api.call("POST", "/api/v1/workflows/copy/publish", acme.key)
    assert (conflict.status, conflict.json["workflowId"]) == (409, "w")
    assert (await api.call("POST", "/api/v1/workflows/none/clone", acme.key)).status == 404


async def test_a_deleted_workflow_is_gone_and_its_jobs_keep_their_version(
    api: Api, acme: Tenant, pocket: PocketLedger, with_operator: Settings
) -> None:
    await saved(api, acme, "w", named("one", "domain:shop.example"))
    job_id = await submit(api, acme, "https://shop.example/1")
    command = pocket.commands[-1]
    assert isinstance(command, SubmitJobs)
    stale = await api.call("DELETE", W, acme.key, headers={"If-Match": '"9"'})
    assert stale.status == 412
    gone = await api.call("DELETE", W, acme.key, headers={"If-Match": '"1"'})
    assert (gone.status, gone.json) == (200, {"workflowId": "w", "deleted": True})
    for path in (W, f"{W}/versions", f"{W}/versions/1"):
        assert (await api.call("GET", path, acme.key)).status == 404
    assert (await api.call("DELETE", W, acme.key)).status == 404
    assert (await api.call("POST", f"{W}/publish", acme.key)).status == 404
    job = (await api.call("GET", f"/api/v1/jobs/{job_id}", acme.key)).json
    assert (job["workflowId"], job["version"]) == ("w", 1)
    assert b'"name":"one"' in await BlobStore(with_operator.blobs).get(command.workflow_ref)
    again = await saved(api, acme, "w", named("another"))
    assert again.json["version"] == 2  # no number comes twice: jobs name theirs for life


async def test_saving_and_publishing_at_once_is_whole_or_nothing(api: Api, acme: Tenant) -> None:
    await saved(api, acme, "other", named("other", "domain:shop.example"))
    await saved(api, acme, "w", named("one", "domain:one.example"))
    body = {"workflowId": "w", "document": named("two", "domain:SHOP.example."), "publish": True}
    refused = await api.call("POST", "/api/v1/workflows", acme.key, body)
    assert (refused.status, refused.json["error"]) == (409, "route_conflict")
    assert (refused.json["workflowId"], refused.json["route"]) == ("other", "domain:shop.example")
    kept = (await api.call("GET", W, acme.key)).json
    assert [(line["version"], line["state"]) for line in kept["versions"]] == [(1, "published")]
    await submit(api, acme, "https://one.example/")


async def test_the_schema_is_served_to_anybody_and_takes_what_the_api_takes(api: Api, acme: Tenant) -> None:
    schema = (await api.call("GET", "/api/v1/workflows/schema")).json
    stored = (await saved(api, acme, "w", WORKFLOW)).json["document"]
    validator = jsonschema.Draft202012Validator(schema)
    assert validator.is_valid(WORKFLOW)
    assert validator.is_valid(stored)
    body = {"workflowId": "schema", "document": WORKFLOW}
    refused = await api.call("POST", "/api/v1/workflows", acme.key, body)
    assert (refused.status, refused.json["field"]) == (422, "workflowId")
