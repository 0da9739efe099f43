"""Webhook endpoints through the API: made, shown without secrets, changed, tried, and put into jobs."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import psycopg
import pytest
from standardwebhooks.webhooks import Webhook

from schemas.events import JobSubmitted
from schemas.values import After
from services.runtime.networks import LOCAL
from services.runtime.sealing import new_key
from services.runtime.settings import Settings
from tests.integration.api.conftest import OPERATOR, Answered, Api, Tenant, submit
from tests.integration.api.pocket import PocketLedger
from tests.integration.api.test_read import EXTRACTED
from tests.receiver import Receiver, receiving

HOOK = "https://customer.example/hook"


@pytest.fixture
def with_operator(settings: Settings) -> Settings:
    """The settings of the API under test: endpoints may be on this machine."""
    settings = replace(settings, operator_key=OPERATOR, credentials_key=new_key())
    return replace(settings, allowed_networks=LOCAL, webhook_timeout_seconds=5.0)


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    """Endpoints on this machine."""
    async with receiving() as receiver:
        yield receiver


async def make(api: Api, tenant: Tenant, url: str = HOOK, **more: Any) -> Any:
    made = await api.call("POST", "/api/v1/webhooks", tenant.key, {"url": url, **more})
    assert made.status == 201, made.json
    return made.json


async def places(api: Api, tenant: Tenant, pocket: PocketLedger) -> list[tuple[str, bool, After]]:
    """Return the webhook destinations that a job gets now."""
    job_id = await submit(api, tenant)
    [job] = [e.recorded.event for e in pocket.entries if e.recorded and e.recorded.event.job_id == job_id][:1]
    assert isinstance(job, JobSubmitted)
    return [(d.destination_id, d.gating, d.after) for d in job.destinations if d.kind == "webhook"]


async def test_the_secret_is_shown_once_and_never_again(api: Api, acme: Tenant) -> None:
    made = await make(api, acme)
    assert made["secret"].startswith("whsec_")
    path = f"/api/v1/webhooks/{made['webhookId']}"
    shown = [
        await api.call("GET", "/api/v1/webhooks", acme.key),
        await api.call("GET", path, acme.key),
        await api.call("PATCH", path, acme.key, {"gating": False}),
        await api.call("GET", f"{path}/deliveries", acme.key),
        await api.call("DELETE", path, acme.key),
    ]
    assert [each.status for each in shown] == [200] * 5
    assert not any(b"whsec_" in each.body or b"secret" in each.body for each in shown)
    assert (await api.call("GET", path, acme.key)).status == 404


async def test_a_job_gets_the_data_delivery_and_a_notice_for_each_type_that_was_subscribed_to(
    api: Api, acme: Tenant, pocket: PocketLedger
) -> None:
    both = (await make(api, acme))["webhookId"]
    one = (await make(api, acme, eventTypes=["job.failed"], gating=False))["webhookId"]
    none = (await make(api, acme, eventTypes=[]))["webhookId"]
    await make(api, acme, enabled=False)
    assert await places(api, acme, pocket) == [
        (both, True, After.EXTRACTION),
        (f"{both}:job.completed", False, After.COMPLETED),
        (f"{both}:job.failed", False, After.FAILED),
        (one, False, After.EXTRACTION),
        (f"{one}:job.failed", False, After.FAILED),
        (none, True, After.EXTRACTION),
    ]


async def test_what_is_disabled_deleted_or_changed_counts_for_later_jobs(
    api: Api, acme: Tenant, pocket: PocketLedger
) -> None:
    kept, gone = (await make(api, acme))["webhookId"], (await make(api, acme))["webhookId"]
    await api.call("DELETE", f"/api/v1/webhooks/{gone}", acme.key)
    changed = await api.call("PATCH", f"/api/v1/webhooks/{kept}", acme.key, {"eventTypes": [], "gating": False})
    assert (changed.json["eventTypes"], changed.json["gating"], changed.json["url"]) == ([], False, HOOK)
    assert await places(api, acme, pocket) == [(kept, False, After.EXTRACTION)]
    await api.call("PATCH", f"/api/v1/webhooks/{kept}", acme.key, {"enabled": False})
    assert await places(api, acme, pocket) == []


async def test_a_rotated_secret_and_the_former_one_both_verify_and_the_one_before_does_not(
    api: Api, acme: Tenant, receiver: Receiver
) -> None:
    made = await make(api, acme, f"{receiver.url}/hook")
    path = f"/api/v1/webhooks/{made['webhookId']}"
    secrets = [made["secret"]]
    for _ in range(2):
        secrets.append((await api.call("POST", f"{path}/rotate", acme.key)).json["secret"])
    tried = await api.call("POST", f"{path}/test", acme.key)
    assert (tried.json["delivered"], tried.json["status"]) == (True, 200)
    [got] = receiver.got["/hook"]
    assert len(got.headers["webhook-signature"].split(" ")) == 2
    for secret in secrets[1:]:
        assert Webhook(secret).verify(got.body, dict(got.headers))["type"] == "webhook.test"
    with pytest.raises(Exception, match="No matching signature"):
        Webhook(secrets[0]).verify(got.body, dict(got.headers))


async def test_a_test_call_answers_what_the_endpoint_said_whether_or_not_it_is_enabled(
    api: Api, acme: Tenant, receiver: Receiver
) -> None:
    made = await make(api, acme, f"{receiver.url}/hook", enabled=False)
    receiver.says("/hook", 418)
    tried: Answered = await api.call("POST", f"/api/v1/webhooks/{made['webhookId']}/test", acme.key)
    assert tried.status == 200
    assert (tried.json["delivered"], tried.json["status"], tried.json["errorType"]) == (False, 418, "http_418")
    assert tried.json["latencyMs"] >= 0


async def test_deliveries_of_an_endpoint_are_listed_newest_first(api: Api, acme: Tenant, pocket: PocketLedger) -> None:
    webhook_id = (await make(api, acme))["webhookId"]
    job_id = await submit(api, acme)
    pocket.extract(acme.partition, acme.org_id, job_id, EXTRACTED)
    pocket.ack(acme.partition, acme.org_id, job_id)
    pocket.ack(acme.partition, acme.org_id, job_id, webhook_id)
    pocket.project()
    found = (await api.call("GET", f"/api/v1/webhooks/{webhook_id}/deliveries", acme.key)).json["deliveries"]
    assert [(each["eventType"], each["status"]) for each in found] == [
        ("job.completed", "requested"),
        ("job.extracted", "acked"),
    ]
    assert {each["jobId"] for each in found} == {job_id}
    job = (await api.call("GET", f"/api/v1/jobs/{job_id}", acme.key)).json
    assert (job["status"], job["gate"]["expected"], job["gate"]["acked"]) == ("completed", 2, 2)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"url": "ftp://customer.example/"}, "url"),
        ({"url": "https://user:word@customer.example/"}, "url"),
        ({"url": "not a url"}, "url"),
        ({"url": HOOK, "eventTypes": ["job.cancelled"]}, "eventTypes[0]"),
        ({"url": HOOK, "secret": "whsec_mine"}, "secret"),
        ({}, "url"),
    ],
)
async def test_a_bad_endpoint_is_refused_with_the_field_named(
    api: Api, acme: Tenant, body: dict[str, Any], field: str
) -> None:
    refused = await api.call("POST", "/api/v1/webhooks", acme.key, body)
    assert (refused.status, refused.json["field"]) == (422, field), refused.json


async def test_an_org_has_a_bounded_number_of_endpoints(api: Api, acme: Tenant) -> None:
    for _ in range(10):
        await make(api, acme)
    refused = await api.call("POST", "/api/v1/webhooks", acme.key, {"url": HOOK})
    assert (refused.status, refused.json["error"]) == (409, "too_many_webhooks")


async def test_a_key_that_may_only_read_changes_nothing(api: Api, acme: Tenant) -> None:
    webhook_id = (await make(api, acme))["webhookId"]
    reader = (await api.call("POST", "/api/v1/keys", acme.key, {"scopes": ["read", "submit"]})).json["secret"]
    path = f"/api/v1/webhooks/{webhook_id}"
    assert (await api.call("GET", path, reader)).status == 200
    for method, where in (("POST", "/api/v1/webhooks"), ("PATCH", path), ("DELETE", path), ("POST", f"{path}/rotate")):
        body = {"url": HOOK} if where.endswith("webhooks") else {}
        assert (await api.call(method, where, reader, body)).status == 403


async def test_a_secret_is_in_no_event_and_no_table_but_its_own(
    api: Api, acme: Tenant, pocket: PocketLedger, with_operator: Settings
) -> None:
    made = await make(api, acme)
    await submit(api, acme)
    secret = made["secret"]
    assert not any(secret in repr(entry.recorded) for entry in pocket.entries)
    with psycopg.connect(with_operator.postgres) as connection:
        assert secret not in str(connection.execute("SELECT w::text FROM config.webhooks AS w").fetchall())


def note_attempts(settings: Settings, tenant: Tenant, webhook_id: str, number: int) -> None:
    with psycopg.connect(settings.postgres) as connection:
        connection.execute(
            """INSERT INTO webhooks.attempts (org_id, webhook_id, job_id, destination_id, message_id, generation,
                try_number, attempted_at, latency_ms, status, error_type, answer)
            SELECT %s, %s, 'job-' || n, %s, 'msg_' || n, 1, 1, now(), 5, CASE WHEN n = 1 THEN 0 ELSE 500 END, 'x', 'no'
            FROM generate_series(1, %s) AS n""",
            (tenant.org_id, webhook_id, f"{webhook_id}:job.failed", number),
        )


async def test_attempts_are_listed_in_pages_by_job_or_message_and_only_to_their_org(
    api: Api, acme: Tenant, rival: Tenant, with_operator: Settings
) -> None:
    webhook_id = (await make(api, acme))["webhookId"]
    note_attempts(with_operator, acme, webhook_id, 3)
    path = f"/api/v1/webhooks/{webhook_id}/attempts"
    first = (await api.call("GET", f"{path}?limit=2", acme.key)).json
    assert [each["jobId"] for each in first["attempts"]] == ["job-3", "job-2"]
    second = (await api.call("GET", f"{path}?limit=2&cursor={first['nextCursor']}", acme.key)).json
    [oldest] = second["attempts"]
    assert (oldest["status"], oldest["eventType"], oldest["answer"]) == (None, "job.failed", "no")
    assert second["nextCursor"] is None
    for one in ("jobId=job-2", "messageId=msg_2"):
        found = (await api.call("GET", f"{path}?{one}", acme.key)).json["attempts"]
        assert [each["messageId"] for each in found] == ["msg_2"]
    assert (await api.call("GET", path, rival.key)).status == 404
    assert (await api.call("GET", f"{path}?cursor=junk", acme.key)).status == 422
    await api.call("DELETE", f"/api/v1/webhooks/{webhook_id}", acme.key)
    with psycopg.connect(with_operator.postgres) as connection:
        assert connection.execute("SELECT count(*) FROM webhooks.attempts").fetchone() == (0,)


async def test_an_endpoint_says_whether_it_is_throttled_or_disabled(
    api: Api, acme: Tenant, with_operator: Settings
) -> None:
    webhook_id = (await make(api, acme))["webhookId"]
    path = f"/api/v1/webhooks/{webhook_id}"
    assert (await api.call("GET", path, acme.key)).json["state"] == "ok"
    with psycopg.connect(with_operator.postgres) as connection:
        connection.execute(
            "INSERT INTO webhooks.throttles VALUES (%s, %s, now() + interval '1 hour')", (acme.org_id, webhook_id)
        )
    throttled = (await api.call("GET", path, acme.key)).json
    assert throttled["state"] == "throttled"
    assert throttled["throttledUntil"] is not None
    [listed] = (await api.call("GET", "/api/v1/webhooks", acme.key)).json["webhooks"]
    assert listed["state"] == "throttled"
    disabled = (await api.call("PATCH", path, acme.key, {"enabled": False})).json
    assert (disabled["state"], disabled["throttledUntil"]) == ("disabled", None)
