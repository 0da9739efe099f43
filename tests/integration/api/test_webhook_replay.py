"""Replay of webhooks through the API: one more generation of each message, however often the request is repeated."""

from typing import Any

from tests.integration.api.conftest import Api, Tenant, submit
from tests.integration.api.pocket import PocketLedger
from tests.integration.api.test_read import EXTRACTED
from tests.integration.api.test_webhooks import make


async def arrived(api: Api, acme: Tenant, pocket: PocketLedger, number: int) -> str:
    """Return an endpoint that so many jobs were delivered to."""
    webhook_id: str = (await make(api, acme, "https://customer.example/hook", eventTypes=[]))["webhookId"]
    for _ in range(number):
        job_id = await submit(api, acme)
        pocket.extract(acme.partition, acme.org_id, job_id, EXTRACTED)
        pocket.ack(acme.partition, acme.org_id, job_id)
        pocket.ack(acme.partition, acme.org_id, job_id, webhook_id)
    pocket.project()
    return webhook_id


async def replay(api: Api, acme: Tenant, webhook_id: str, key: str, **body: Any) -> Any:
    path = f"/api/v1/webhooks/{webhook_id}/replay"
    return await api.call("POST", path, acme.key, body, headers={"Idempotency-Key": key})


async def generations(api: Api, acme: Tenant, pocket: PocketLedger, webhook_id: str) -> list[int]:
    pocket.project()
    found = await api.call("GET", f"/api/v1/webhooks/{webhook_id}/deliveries", acme.key)
    return sorted(each["generation"] for each in found.json["deliveries"])


async def test_63_a_range_is_replayed_in_pages_and_a_repeat_sends_nothing_twice(
    api: Api, acme: Tenant, pocket: PocketLedger
) -> None:
    webhook_id = await arrived(api, acme, pocket, 3)
    first = await replay(api, acme, webhook_id, "one", only="all", limit=2)
    assert (first.status, first.json["replayed"], first.json["skipped"]) == (202, 2, {})
    assert await generations(api, acme, pocket, webhook_id) == [1, 1, 1, 2, 2]
    repeated = await replay(api, acme, webhook_id, "one", only="all", limit=2)
    assert repeated.json == first.json
    assert await generations(api, acme, pocket, webhook_id) == [1, 1, 1, 2, 2]
    cursor = first.json["nextCursor"]
    second = await replay(api, acme, webhook_id, "two", only="all", limit=2, cursor=cursor)
    assert (second.json["replayed"], second.json["nextCursor"]) == (1, None)
    assert await generations(api, acme, pocket, webhook_id) == [1, 1, 1, 2, 2, 2]


async def test_only_what_failed_and_only_the_range_is_replayed(api: Api, acme: Tenant, pocket: PocketLedger) -> None:
    webhook_id = await arrived(api, acme, pocket, 1)
    for body in ({}, {"only": "all", "since": "2100-01-01T00:00:00Z"}, {"only": "all", "jobId": "another"}):
        assert (await replay(api, acme, webhook_id, f"key-{len(str(body))}", **body)).json["replayed"] == 0
    assert await generations(api, acme, pocket, webhook_id) == [1]


async def test_a_key_with_another_body_a_bad_cursor_and_a_disabled_endpoint_are_refused(
    api: Api, acme: Tenant, rival: Tenant, pocket: PocketLedger
) -> None:
    webhook_id = await arrived(api, acme, pocket, 0)
    await replay(api, acme, webhook_id, "one")
    assert (await replay(api, acme, webhook_id, "one", only="all")).json["error"] == "idempotency_conflict"
    assert (await replay(api, acme, webhook_id, "two", cursor="junk")).json["field"] == "cursor"
    assert (await replay(api, rival, webhook_id, "one")).status == 404
    await api.call("PATCH", f"/api/v1/webhooks/{webhook_id}", acme.key, {"enabled": False})
    assert (await replay(api, acme, webhook_id, "three")).json["error"] == "not_deliverable"
