"""Replay of webhooks: messages of a range of time, or of a job, are delivered once more, with the ids they had."""

import asyncio
import base64
import binascii
import hashlib
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec
from aiohttp import web

from api import submission, webhook_answers, webhook_requests
from api.config import replays, webhooks
from api.errors import Problem, invalid
from api.http import answer
from api.operation import Call, Operation
from api.refused import repeatable
from api.routes.webhook_messages import found
from projections.postgres.views import Replayable
from services.ledger.commands import RedeliverJob
from services.ledger.replies import Refused
from services.runtime.ids import uuid7
from services.runtime.time import utc_now

AT_ONCE = 16
STATUSES = {"failed": ("dead_lettered", "waived"), "all": ("acked", "dead_lettered", "waived", "waiting")}
NEVER = datetime(1970, 1, 1, tzinfo=UTC)


class _Cursor(msgspec.Struct, frozen=True, array_like=True):
    until: datetime
    job_id: str
    destination_id: str


async def replay(call: Call) -> web.StreamResponse:
    """Ask for one more generation of each message, at most one however often the request is repeated."""
    webhook, body = await found(call), call.body
    if not webhook.enabled:
        raise Problem("not_deliverable", "the endpoint is disabled, nothing is sent to it: enable it first")
    key = submission.given_key(call.request.headers) or uuid7()
    plan = await _plan(call, webhook, key, body)
    with repeatable(key):
        codes = await _asked(call, plan.places())
    shown = webhook_answers.Replay(
        replayed=codes.pop("", 0), skipped=dict(sorted(codes.items())), next_cursor=plan.next_cursor
    )
    return answer(202, shown, {"Idempotency-Key": key})


async def _plan(
    call: Call, webhook: webhooks.Webhook, key: str, body: webhook_requests.ReplayWebhook
) -> replays.Replay:
    org_id, pool = call.caller.org_id, call.parts.pool
    key_digest = submission.key_digest(org_id, f"replay\0{key}")
    body_digest = hashlib.sha256(msgspec.json.encode(body)).digest()
    plan = await replays.find(pool, org_id, webhook.webhook_id, key_digest)
    if plan is None:
        places, following = await _page(call, webhook, body)
        plan = await replays.keep(
            pool,
            org_id,
            webhook.webhook_id,
            key_digest,
            body_digest=body_digest,
            places=places,
            next_cursor=following,
            seconds=call.parts.settings.idempotency_seconds,
        )
    if bytes(plan.body_digest) != body_digest:
        message = "this Idempotency-Key came with another request before: use a new key for a new request"
        raise Problem("idempotency_conflict", message, field="Idempotency-Key")
    return plan


async def _page(
    call: Call, webhook: webhooks.Webhook, body: webhook_requests.ReplayWebhook
) -> tuple[list[replays.Place], str | None]:
    """Return which generations to ask for, and where the next page begins; the first fixes the end of the range."""
    cursor = _read(body.cursor) if body.cursor else _Cursor(body.until or utc_now(), "", "")
    names = [webhook.webhook_id, *(webhooks.notice_id(webhook.webhook_id, each) for each in webhooks.AFTER)]
    which = Replayable(
        destination_ids=names,
        statuses=list(STATUSES[body.only]),
        job_id=body.job_id,
        since=body.since or NEVER,
        until=cursor.until,
        after_job=cursor.job_id,
        after_destination=cursor.destination_id,
    )
    rows = await call.parts.jobs.replayable(call.caller, which, body.limit + 1)
    listed = rows[: body.limit]
    places = [(row.job_id, row.destination_id, row.generation + 1) for row in listed]
    if len(rows) <= body.limit:
        return places, None
    last = _Cursor(cursor.until, listed[-1].job_id, listed[-1].destination_id)
    return places, base64.urlsafe_b64encode(msgspec.json.encode(last)).decode()


def _read(cursor: str) -> _Cursor:
    try:
        return msgspec.json.decode(base64.urlsafe_b64decode(cursor), type=_Cursor)
    except (ValueError, binascii.Error, msgspec.DecodeError):
        raise invalid("cursor", "not a cursor of a replay: pass `nextCursor` of the answer before") from None


async def _asked(call: Call, places: Sequence[replays.Place]) -> Counter[str]:
    """Ask the ledger for each, some at once; return how many it refused by code, and under "" how many not."""
    room = asyncio.Semaphore(AT_ONCE)

    async def one(job_id: str, destination_id: str, generation: int) -> str:
        command = RedeliverJob(destination_id=destination_id, generation=generation, job_id=job_id, **call.asks())
        async with room:
            reply = await call.parts.commander.ask(call.caller.partition, command)
        return reply.body.code if isinstance(reply.body, Refused) else ""

    return Counter(await asyncio.gather(*(one(*place) for place in places)))


OPERATIONS = (
    Operation(
        method="POST",
        path="/api/v1/webhooks/{webhook_id}/replay",
        summary="Send messages of a range of time, or of a job, once more",
        access="submit",
        handler=replay,
        body=webhook_requests.ReplayWebhook,
        body_optional=True,
        answers={202: webhook_answers.Replay},
        headers=("Idempotency-Key",),
        errors=("not_found", "not_deliverable", "idempotency_conflict", "ledger_unavailable"),
    ),
)
