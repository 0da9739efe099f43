"""No key of one org reaches anything of another: every route is tried, also those added later."""

from typing import Any

from api.operation import Operation
from api.routes.all import OPERATIONS
from tests.integration.api.conftest import WORKFLOW, Api, Tenant, submit
from tests.integration.api.module_work import SCRAP, submit_scrap
from tests.integration.api.pocket import PocketLedger
from tests.integration.api.spider_work import make_destination, make_project

# What an org sends where the path alone names nothing of the other.
BODIES: dict[str, Any] = {
    "/api/jobs": SCRAP,
    "/api/v1/credentials": {"provider": "zyte", "secret": {"apiKey": "mine"}},
    "/api/v1/jobs": {"url": "https://shop.example/1"},
    "/api/v1/destinations": {"kind": "clickhouse", "destinationId": "mine"},
    "/api/v1/keys": {"name": "mine"},
    "/api/v1/schedules": {"name": "mine", "cron": "0 6 * * *", "work": {"url": "https://shop.example/1"}},
    "/api/v1/schedules/{schedule_id}": {"name": "m", "cron": "0 6 * * *", "work": {"url": "https://shop.example/1"}},
    "/api/v1/schedules/trigger": {"tagFilter": {"all": ["of-acme"]}},
    "/api/v1/schedules/enable": {"tagFilter": {"all": ["of-acme"]}},
    "/api/v1/schedules/disable": {"tagFilter": {"all": ["of-acme"]}},
    "/api/v1/webhooks": {"url": "https://rival.example/hook"},
    "/spider/projects": {"slug": "mine"},
    "/spider/destinations": {"org": "acme", "project": "of-acme", "name": "mine", "kind": "bigquery"},
    "/spider/jobs": {"org": "acme", "project": "of-acme", "spiders": ["one"]},
    "/spider/schedules": {"org": "acme", "project": "of-acme", "name": "m", "cron": "0 6 * * *", "spiders": ["one"]},
    "/spider/deploys/from-git": {"org": "acme", "project": "of-acme"},
    "/api/v1/workflows": {"workflowId": "mine", "document": WORKFLOW},
    "/api/v1/workflows/{workflow_id}": {"document": WORKFLOW},
}
# What these answer a stranger who sends what `BODIES` or `QUERIES` have.
OF_SPIDERS = {
    "/spider/deploys": {403},  # it names the other org
    "/spider/deploys/from-git": {403},  # likewise
    "/spider/deploys/upload": {400},  # no form
    "/spider/destinations": {403},  # it names the other org
    "/spider/jobs": {403},  # likewise
    "/spider/schedules": {403},  # likewise
    "/spider/schedules/{number}": {404},  # among its own there is none of this number
    "/spider/schedules/{number}/toggle": {404},
    "/spider/schedules/{number}/run": {404},
    "/spider/destinations/{number}": {404},  # among its own there is none of this number
}
QUERIES = dict.fromkeys(
    (f"/spider/{what}" for what in ("deploys", "destinations", "jobs", "schedules")), "?org=acme&project=of-acme"
)


async def test_no_route_shows_or_changes_anything_of_another_org(
    api: Api, acme: Tenant, rival: Tenant, pocket: PocketLedger
) -> None:
    stored, fresh = await submit(api, acme), ""
    secret_url = "https://shop.example/secret-of-acme"
    stored = await submit(api, acme, secret_url)
    pocket.project()
    fresh = await submit(api, acme, secret_url)
    body = {"workflowId": "of-acme", "document": {**WORKFLOW, "name": "secret-of-acme"}, "publish": True}
    assert (await api.call("POST", "/api/v1/workflows", acme.key, body)).status == 201
    key_id = (await api.call("POST", "/api/v1/keys", acme.key, {"name": "secret-of-acme"})).json["keyId"]
    hook = {"url": "https://secret-of-acme.example/"}
    webhook_id = (await api.call("POST", "/api/v1/webhooks", acme.key, hook)).json["webhookId"]
    lake = {"kind": "clickhouse", "destinationId": "lake-of-acme"}
    assert (await api.call("POST", "/api/v1/destinations", acme.key, lake)).status == 201
    signing_in = {"provider": "decodo", "label": "secret-of-acme", "secret": {"username": "u", "password": "p"}}
    assert (await api.call("POST", "/api/v1/credentials", acme.key, signing_in)).status == 201
    work = {"url": secret_url, "workflowId": "products"}
    every_day = {"name": "secret-of-acme", "cron": "0 6 * * *", "work": work, "tags": ["of-acme"]}
    schedule_id = (await api.call("POST", "/api/v1/schedules", acme.key, every_day)).json["scheduleId"]
    assert (await api.call("POST", f"/api/v1/schedules/{schedule_id}/trigger", acme.key)).status == 201
    await make_project(api, acme, "of-acme", name="secret-of-acme")
    number = (await make_destination(api, acme, "of-acme", name="lake-of-acme"))["id"]
    module_job = await submit_scrap(api, acme, queries=["secret-of-acme"])
    pocket.project()
    module_fresh = await submit_scrap(api, acme, queries=["secret-of-acme"])
    commands = len(pocket.commands)
    for job_id in (stored, fresh, module_job, module_fresh):
        names = {"job_id": job_id, "workflow_id": "of-acme", "key_id": key_id, "org_id": "acme"}
        names |= {"webhook_id": webhook_id, "provider": "decodo", "version": "1"}
        names["schedule_id"] = schedule_id
        names |= {"org": "acme", "project": "of-acme", "number": str(number)}
        names["destination_id"] = "lake-of-acme"
        for operation in OPERATIONS:
            answer = await _try(api, operation, names, rival.key)
            expected = _expected(operation)
            assert answer.status in expected, (operation.method, operation.path, answer.status, answer.json)
            assert b"secret-of-acme" not in answer.body
            assert key_id.encode() not in answer.body
            assert webhook_id.encode() not in answer.body
            assert b"lake-of-acme" not in answer.body
    touched = {command.org_id for command in pocket.commands[commands:]}
    assert touched == {"rival"}
    statuses = (await api.call("POST", "/api/v1/jobs/batch-status", rival.key, {"jobIds": [stored, fresh]})).json
    assert statuses == {"jobs": [], "unknown": [stored, fresh]}
    assert (await api.call("GET", "/api/v1/jobs", acme.key)).status == 200
    assert (await api.call("GET", f"/api/v1/webhooks/{webhook_id}", acme.key)).json["url"] == hook["url"]


async def _try(api: Api, operation: Operation, names: dict[str, str], key: str) -> Any:
    path = operation.path.format(**names) + (QUERIES.get(operation.path, "") if operation.method == "GET" else "")
    body = BODIES.get(operation.path, {"jobIds": [names["job_id"]]} if "batch" in path else {})
    if operation.access == "operator":
        body = {"maxInFlight": 1} if operation.method == "PATCH" else {"name": "x"}
    return await api.call(operation.method, path, key, body if operation.body else None)


def _expected(operation: Operation) -> set[int]:
    """What a stranger gets: 403 for the operator's calls, 404 for a thing of the other, its own things otherwise."""
    if operation.access == "operator" or "{org}" in operation.path:
        return {403}
    if operation.path in OF_SPIDERS:
        return OF_SPIDERS[operation.path]
    if operation.path == "/api/v1/history/head":
        return {404}  # its own, and nothing signs heads in this test
    return {404} if "{" in operation.path else {200, 201}
