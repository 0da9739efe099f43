"""Webhook endpoints of the caller's org: make, list, change, delete, give a new secret, and try."""

import time
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

import msgspec
from aiohttp import web

from api import requests, submission, webhook_answers
from api.config import attempts, webhooks
from api.errors import Problem, not_found
from api.http import answer
from api.operation import Call, Operation
from api.routes.webhook_messages import found, webhook_id_of
from api.times import iso, iso_or_none
from api.urls import domain_of
from services.runtime.errors import Unsealable
from services.runtime.ids import uuid7
from services.runtime.sealing import Sealer
from services.runtime.settings import Settings
from services.runtime.time import now_micros
from services.writers.webhook.endpoints import StoredEndpoints
from services.writers.webhook.payload import iso_of
from services.writers.webhook.sender import Sender
from services.writers.webhook.signing import headers_of

NO_STORE = {"Cache-Control": "no-store"}


async def create(call: Call) -> web.StreamResponse:
    """Make an endpoint; its secret is in this answer and nowhere else. Jobs submitted from now on are sent to it."""
    body: requests.CreateWebhook = call.body
    _check_url(call, body.url)
    made = await webhooks.create(
        call.parts.pool,
        _sealer(call),
        call.caller.org_id,
        url=body.url,
        event_types=sorted(set(body.event_types)),
        gating=body.gating,
        on_exhausted=body.on_exhausted,
        gate_seconds=body.gate_seconds,
        enabled=body.enabled,
    )
    if made is None:
        raise Problem("too_many_webhooks", f"an org has at most {webhooks.MAX_WEBHOOKS} webhooks: delete one first")
    webhook, secret = made
    shown = webhook_answers.NewWebhook(**msgspec.structs.asdict(_shown(webhook, {})), secret=secret)
    return answer(201, shown, {**NO_STORE, "Location": f"/api/v1/webhooks/{webhook.webhook_id}"})


async def every(call: Call) -> web.StreamResponse:
    """Answer all endpoints of the org, without secrets."""
    listed = await webhooks.every(call.parts.pool, call.caller.org_id)
    paused = await attempts.paused_until(call.parts.pool, call.caller.org_id)
    return answer(200, webhook_answers.Webhooks(webhooks=[_shown(each, paused) for each in listed]))


async def get(call: Call) -> web.StreamResponse:
    """Answer one endpoint, without its secret."""
    webhook = await found(call)
    return answer(200, _shown(webhook, await attempts.paused_until(call.parts.pool, call.caller.org_id)))


async def change(call: Call) -> web.StreamResponse:
    """Change what the body names. A new url is used within seconds, also for what is waiting to be sent."""
    body: requests.ChangeWebhook = call.body
    if body.url is not None:
        _check_url(call, body.url)
    changed = await webhooks.change(
        call.parts.pool,
        call.caller.org_id,
        webhook_id_of(call),
        url=body.url,
        event_types=None if body.event_types is None else sorted(set(body.event_types)),
        gating=body.gating,
        on_exhausted=body.on_exhausted,
        gate_seconds=body.gate_seconds,
        enabled=body.enabled,
    )
    if changed is None:
        raise not_found("webhook")
    return answer(200, _shown(changed, await attempts.paused_until(call.parts.pool, call.caller.org_id)))


async def delete(call: Call) -> web.StreamResponse:
    """Delete an endpoint and its secrets; what is waiting to be sent to it is given up."""
    deleted = await webhooks.delete(call.parts.pool, call.caller.org_id, webhook_id_of(call))
    if deleted is None:
        raise not_found("webhook")
    return answer(200, _shown(deleted, {}))


async def rotate(call: Call) -> web.StreamResponse:
    """Give a new secret; for a day messages carry two signatures. What came before the former secret ends at once."""
    webhook_id = webhook_id_of(call)
    rotated = await webhooks.rotate(call.parts.pool, _sealer(call), call.caller.org_id, webhook_id)
    if rotated is None:
        raise not_found("webhook")
    secret, former_ends_at = rotated
    shown = webhook_answers.NewSecret(webhook_id=webhook_id, secret=secret, former_ends_at=iso(former_ends_at))
    return answer(200, shown, NO_STORE)


async def test(call: Call) -> web.StreamResponse:
    """Send a signed `webhook.test` now, once, also to a disabled endpoint, and answer what came of it."""
    webhook_id = webhook_id_of(call)
    stored = StoredEndpoints(call.parts.pool, call.parts.settings.credentials_key)
    try:
        endpoint = await stored.find((call.caller.org_id, webhook_id))
    except Unsealable:
        raise Problem(
            "credentials_disabled", "the secret cannot be opened here: see JOBLEDGER_CREDENTIALS_KEY"
        ) from None
    if endpoint is None:
        raise not_found("webhook")
    message = {"type": "webhook.test", "timestamp": iso_of(now_micros()), "data": {"webhookId": webhook_id}}
    body = msgspec.json.encode(message)
    headers = headers_of(f"msg_test_{uuid7()}", int(time.time()), body, endpoint.secrets)
    async with Sender(call.parts.settings) as sender:
        outcome = await sender.send(endpoint.url, headers, body)
    shown = webhook_answers.WebhookTest(
        delivered=not outcome.error_type,
        status=outcome.status or None,
        latency_ms=outcome.latency_ms,
        error_type=outcome.error_type or None,
        error_message=outcome.message or None,
    )
    return answer(200, shown)


def _sealer(call: Call) -> Sealer:
    keys = call.parts.settings.credentials_key
    if not keys:
        message = "secrets of webhooks cannot be kept here: the operator has to set JOBLEDGER_CREDENTIALS_KEY"
        raise Problem("credentials_disabled", message)
    return Sealer(keys)


def _check_url(call: Call, url: str) -> None:
    domain_of(url, "url", allowed=call.parts.settings.allowed_networks)


def _faults(settings: Settings, given: Mapping[str, Any]) -> Iterator[Problem]:
    if given.get("url"):
        yield from submission.url_faults({"url": given["url"]}, allowed=settings.allowed_networks)


def _shown(webhook: webhooks.Webhook, paused: Mapping[str, datetime]) -> webhook_answers.Webhook:
    until = paused.get(webhook.webhook_id) if webhook.enabled else None
    return webhook_answers.Webhook(
        webhook_id=webhook.webhook_id,
        url=webhook.url,
        event_types=webhook.event_types,
        gating=webhook.gating,
        on_exhausted=webhook.on_exhausted,
        gate_seconds=webhook.gate_seconds,
        enabled=webhook.enabled,
        state="throttled" if until else "ok" if webhook.enabled else "disabled",
        throttled_until=iso_or_none(until),
        disabled_reason=webhook.disabled_reason,
        disabled_at=iso_or_none(webhook.disabled_at),
        created_at=iso(webhook.created_at),
        updated_at=iso(webhook.updated_at),
    )


OPERATIONS = (
    Operation(
        method="POST",
        path="/api/v1/webhooks",
        summary="Make a webhook endpoint; the answer shows its secret this once",
        access="admin",
        handler=create,
        body=requests.CreateWebhook,
        faults=_faults,
        answers={201: webhook_answers.NewWebhook},
        errors=("too_many_webhooks", "unusable_text", "credentials_disabled"),
    ),
    Operation(
        method="GET",
        path="/api/v1/webhooks",
        summary="List the webhook endpoints of the org",
        access="read",
        handler=every,
        answers={200: webhook_answers.Webhooks},
    ),
    Operation(
        method="GET",
        path="/api/v1/webhooks/{webhook_id}",
        summary="Read a webhook endpoint",
        access="read",
        handler=get,
        answers={200: webhook_answers.Webhook},
        errors=("not_found",),
    ),
    Operation(
        method="PATCH",
        path="/api/v1/webhooks/{webhook_id}",
        summary="Change url, event types, gating or enabled",
        access="admin",
        handler=change,
        body=requests.ChangeWebhook,
        faults=_faults,
        answers={200: webhook_answers.Webhook},
        errors=("not_found", "unusable_text"),
    ),
    Operation(
        method="DELETE",
        path="/api/v1/webhooks/{webhook_id}",
        summary="Delete a webhook endpoint",
        access="admin",
        handler=delete,
        answers={200: webhook_answers.Webhook},
        errors=("not_found",),
    ),
    Operation(
        method="POST",
        path="/api/v1/webhooks/{webhook_id}/rotate",
        summary="Give a new secret; the former one signs for 24 more hours",
        access="admin",
        handler=rotate,
        answers={200: webhook_answers.NewSecret},
        errors=("not_found", "credentials_disabled"),
    ),
    Operation(
        method="POST",
        path="/api/v1/webhooks/{webhook_id}/test",
        summary="Send a test message and answer what came of it",
        access="admin",
        handler=test,
        answers={200: webhook_answers.WebhookTest},
        errors=("not_found", "credentials_disabled"),
    ),
)
