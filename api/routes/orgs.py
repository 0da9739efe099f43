"""Orgs: the operator registers them, lists them and sets their limits."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
from aiohttp import web

from api import config_answers, org_requests, requests
from api.config import keys, orgs
from api.errors import Problem, invalid
from api.http import answer
from api.operation import Call, Operation
from api.org_answers import org_of, shown_org
from api.routes.erasure import turn
from api.routes.jobs import ledger_position
from api.routes.keys import new_key
from api.routes.org_credits import known_plan
from services.ledger.commands import ChangeOrgLimit, RegisterOrg
from services.ledger.replies import Refused, Reply
from services.runtime.topics import partition_of_org

_AS_BEFORE: Mapping[str, int | None] = dict.fromkeys(msgspec.structs.asdict(org_requests.ChangeOrg()))


@dataclass(frozen=True, slots=True)
class Registered:
    """An org that was registered just now, with its first key."""

    org: orgs.Org
    key: keys.Key
    secret: str
    reply: Reply


async def register(call: Call) -> web.StreamResponse:
    """Register an org with the ledger and answer with its first key; one that ended in 503 can be repeated."""
    made = await registered(call, call.body)
    shown = config_answers.RegisteredOrg(
        **msgspec.structs.asdict(shown_org(made.org)), key=new_key(made.key, made.secret)
    )
    return answer(201, shown, {**ledger_position(made.reply), "Cache-Control": "no-store"})


async def registered(call: Call, body: requests.RegisterOrg, retention_seconds: int | None = None) -> Registered:
    """Register an org with the ledger, and make its first key; None: it keeps results as the ledger is set."""
    plan = known_plan(call, body.plan)
    org_id = body.org_id or f"org-{secrets.token_hex(6)}"
    org = await orgs.save(
        call.parts.pool,
        org_id=org_id,
        name=body.name,
        partition=partition_of_org(org_id, call.parts.settings.partitions),
        plan=body.plan,
        max_in_flight=plan.max_in_flight if body.max_in_flight is None else body.max_in_flight,
    )
    if org is None:
        raise _org_exists()
    if body.erasure:
        await turn(call.parts, org_id, on=True)
    command = RegisterOrg(
        **call.asks(org_id),
        name=org.name,
        plan=org.plan,
        max_in_flight=org.max_in_flight,
        credits=body.credits,
    )
    reply = await call.parts.commander.ask(org.partition, command)
    if isinstance(reply.body, Refused):
        raise RuntimeError(f"the ledger refused to register an org: {reply.body.code}")
    if retention_seconds is not None:
        limits = {"retention_seconds": retention_seconds}
        reply = await _limited(call, org, limits)
        await orgs.change_limits(call.parts.pool, org_id, {**_AS_BEFORE, **limits})
    confirmed = await orgs.confirm(call.parts.pool, org_id)
    if confirmed is None:
        raise _org_exists()
    key, secret = await keys.create(call.parts.pool, org_id, "first key", keys.SCOPES)
    return Registered(confirmed, key, secret, reply)


async def every(call: Call) -> web.StreamResponse:
    """Answer all orgs."""
    found = await orgs.every(call.parts.pool)
    return answer(200, config_answers.Orgs(orgs=[shown_org(org) for org in found if org.registered_at]))


async def change(call: Call) -> web.StreamResponse:
    """Change limits of an org; from here on the ledger goes by them."""
    org = await org_of(call)
    limits = msgspec.structs.asdict(call.body)
    if all(limit is None for limit in limits.values()):
        raise invalid("body", "name a limit to change: maxInFlight, maxPending, maxQueueSeconds or retentionSeconds")
    reply = await _limited(call, org, limits)
    changed = await orgs.change_limits(call.parts.pool, org.org_id, limits)
    return answer(200, shown_org(changed or org), ledger_position(reply))


async def _limited(call: Call, org: orgs.Org, limits: Mapping[str, Any]) -> Reply:
    reply = await call.parts.commander.ask(org.partition, ChangeOrgLimit(**call.asks(org.org_id), **limits))
    if isinstance(reply.body, Refused):
        raise RuntimeError(f"the ledger refused the limits of a registered org: {reply.body.code}")
    return reply


def _org_exists() -> Problem:
    return Problem("org_exists", "an org with this id is registered already: choose another", field="orgId")


OPERATIONS = (
    Operation(
        method="POST",
        path="/api/v1/orgs",
        summary="Register an org; the answer shows its first key this once",
        access="operator",
        handler=register,
        body=requests.RegisterOrg,
        answers={201: config_answers.RegisteredOrg},
        errors=("org_exists", "ledger_unavailable", "erasure_disabled"),
    ),
    Operation(
        method="GET",
        path="/api/v1/orgs",
        summary="List all orgs",
        access="operator",
        handler=every,
        answers={200: config_answers.Orgs},
    ),
    Operation(
        method="PATCH",
        path="/api/v1/orgs/{org_id}",
        summary="Change limits of an org: jobs in flight, jobs pending, time in the queue, retention",
        access="operator",
        handler=change,
        body=org_requests.ChangeOrg,
        answers={200: config_answers.Org},
        errors=("not_found", "ledger_unavailable"),
    ),
)
