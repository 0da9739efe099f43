"""Orgs: the operator registers them, lists them and sets how many of their jobs may be in flight."""

import re
import secrets

import msgspec
from aiohttp import web

from api import answers, requests
from api.config import keys, orgs
from api.errors import Problem, not_found
from api.http import answer
from api.operation import Call, Operation
from api.routes.erasure import turn
from api.routes.jobs import ledger_position
from api.routes.keys import new_key
from api.times import iso
from services.ledger.commands import ChangeOrgLimit, RegisterOrg
from services.ledger.replies import Refused
from services.runtime.topics import partition_of_org


async def register(call: Call) -> web.StreamResponse:
    """Register an org with the ledger and answer with its first key; one that ended in 503 can be repeated."""
    body: requests.RegisterOrg = call.body
    org_id = body.org_id or f"org-{secrets.token_hex(6)}"
    org = await orgs.save(
        call.parts.pool,
        org_id=org_id,
        name=body.name,
        partition=partition_of_org(org_id, call.parts.settings.partitions),
        plan=body.plan,
        max_in_flight=body.max_in_flight,
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
    )
    reply = await call.parts.commander.ask(org.partition, command)
    if isinstance(reply.body, Refused):
        raise RuntimeError(f"the ledger refused to register an org: {reply.body.code}")
    confirmed = await orgs.confirm(call.parts.pool, org_id)
    if confirmed is None:
        raise _org_exists()
    key, secret = await keys.create(call.parts.pool, org_id, "first key", keys.SCOPES)
    shown = answers.RegisteredOrg(**msgspec.structs.asdict(_shown(confirmed)), key=new_key(key, secret))
    return answer(201, shown, {**ledger_position(reply), "Cache-Control": "no-store"})


async def every(call: Call) -> web.StreamResponse:
    """Answer all orgs."""
    found = await orgs.every(call.parts.pool)
    return answer(200, answers.Orgs(orgs=[_shown(org) for org in found if org.registered_at]))


async def change(call: Call) -> web.StreamResponse:
    """Change how many jobs of an org may be in flight; from here on the ledger dispatches by it."""
    org_id = call.request.match_info["org_id"]
    org = await orgs.find(call.parts.pool, org_id) if re.fullmatch(requests.ID_PATTERN, org_id) else None
    if org is None or org.registered_at is None:
        raise not_found("org")
    command = ChangeOrgLimit(
        **call.asks(org_id),
        max_in_flight=call.body.max_in_flight,
    )
    reply = await call.parts.commander.ask(org.partition, command)
    if isinstance(reply.body, Refused):
        raise RuntimeError(f"the ledger refused the limit of a registered org: {reply.body.code}")
    changed = await orgs.change_limit(call.parts.pool, org_id, call.body.max_in_flight)
    return answer(200, _shown(changed or org), ledger_position(reply))


def _shown(org: orgs.Org) -> answers.Org:
    return answers.Org(
        org_id=org.org_id,
        name=org.name,
        plan=org.plan,
        partition=org.partition,
        max_in_flight=org.max_in_flight,
        created_at=iso(org.created_at),
    )


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
        answers={201: answers.RegisteredOrg},
        errors=("org_exists", "ledger_unavailable", "erasure_disabled"),
    ),
    Operation(
        method="GET",
        path="/api/v1/orgs",
        summary="List all orgs",
        access="operator",
        handler=every,
        answers={200: answers.Orgs},
    ),
    Operation(
        method="PATCH",
        path="/api/v1/orgs/{org_id}",
        summary="Change how many jobs of an org may be in flight",
        access="operator",
        handler=change,
        body=requests.ChangeOrg,
        answers={200: answers.Org},
        errors=("not_found", "ledger_unavailable"),
    ),
)
