"""Messages to a webhook endpoint: what was sent when, and what came of each try."""

import re

from aiohttp import web

from api import requests, webhook_answers, webhook_requests
from api.config import attempts as log
from api.config import webhooks
from api.errors import not_found
from api.http import answer
from api.operation import Call, Operation
from api.schedules.shown import before
from api.times import iso, iso_or_none
from projections.postgres.rows import Delivery

DATA = "job.extracted"


async def deliveries(call: Call) -> web.StreamResponse:
    """Answer the newest messages to an endpoint, data deliveries and notices, with their tries and last errors."""
    webhook = await found(call)
    names = [webhook.webhook_id, *(webhooks.notice_id(webhook.webhook_id, each) for each in webhooks.AFTER)]
    rows = await call.parts.jobs.deliveries_to(call.caller, names, call.query.limit)
    return answer(200, webhook_answers.WebhookDeliveries(deliveries=[_delivery(row) for row in rows]))


async def attempts(call: Call) -> web.StreamResponse:
    """Answer the newest calls to an endpoint, as far back as the log goes; an outage of Postgres may leave gaps."""
    webhook, query = await found(call), call.query
    rows = await log.page(
        call.parts.pool,
        call.caller.org_id,
        webhook.webhook_id,
        job_id=query.job_id,
        message_id=query.message_id,
        before=before(query.cursor),
        limit=query.limit + 1,
    )
    listed = rows[: query.limit]
    following = str(listed[-1].attempt_id) if len(rows) > query.limit else None
    return answer(
        200, webhook_answers.WebhookAttempts(attempts=[_attempt(row) for row in listed], next_cursor=following)
    )


def webhook_id_of(call: Call) -> str:
    """Return the id of the endpoint that a call is about."""
    webhook_id = call.request.match_info["webhook_id"]
    if not re.fullmatch(requests.ID_PATTERN, webhook_id, re.ASCII):
        raise not_found("webhook")
    return webhook_id


async def found(call: Call) -> webhooks.Webhook:
    """Return the endpoint that a call is about, of the caller's org."""
    webhook = await webhooks.find(call.parts.pool, call.caller.org_id, webhook_id_of(call))
    if webhook is None:
        raise not_found("webhook")
    return webhook


def event_type_of(destination_id: str) -> str:
    """Return the type of the messages that go to a destination of an endpoint."""
    return destination_id.partition(":")[2] or DATA


def _delivery(row: Delivery) -> webhook_answers.WebhookDelivery:
    return webhook_answers.WebhookDelivery(
        job_id=row.job_id,
        event_type=event_type_of(row.destination_id),
        generation=row.generation,
        status=row.status,
        tries=row.tries,
        requested_at=iso(row.requested_at),
        delivered_at=iso_or_none(row.acked_at),
        next_try_at=iso_or_none(row.next_try_at),
        error_type=row.error_type,
        error_message=row.error_message,
    )


def _attempt(row: log.Attempt) -> webhook_answers.WebhookAttempt:
    return webhook_answers.WebhookAttempt(
        job_id=row.job_id,
        event_type=event_type_of(row.destination_id),
        message_id=row.message_id,
        generation=row.generation,
        try_number=row.try_number,
        attempted_at=iso(row.attempted_at),
        latency_ms=row.latency_ms,
        status=row.status or None,
        error_type=row.error_type or None,
        answer=row.answer,
    )


OPERATIONS = (
    Operation(
        method="GET",
        path="/api/v1/webhooks/{webhook_id}/deliveries",
        summary="List the newest messages to an endpoint",
        access="read",
        handler=deliveries,
        positioned=True,
        query=requests.ListDeliveries,
        answers={200: webhook_answers.WebhookDeliveries},
        errors=("not_found",),
    ),
    Operation(
        method="GET",
        path="/api/v1/webhooks/{webhook_id}/attempts",
        summary="List the newest calls to an endpoint, with what it answered",
        access="read",
        handler=attempts,
        query=webhook_requests.ListAttempts,
        answers={200: webhook_answers.WebhookAttempts},
        errors=("not_found",),
    ),
)
