"""Orgs as the API of spiders has them, and whether it answers: the same orgs as everywhere."""

import msgspec
from aiohttp import web

from api import requests
from api.config.keys import PREFIX as KEY_PREFIX
from api.config.keys import SPIDER_PREFIX
from api.config.orgs import Org
from api.http import answer
from api.operation import Call, Operation
from api.routes.jobs import ledger_position
from api.routes.orgs import registered
from api.spiders import answers
from api.spiders.frame import PREFIX, orgs_of
from api.spiders.requests import DAY_SECONDS, RegisterSpiderOrg
from api.times import iso


async def health(_call: Call) -> web.StreamResponse:
    """Answer at all; what the API works with is at /ready."""
    return answer(200, answers.SpiderHealth(status="ok"))


async def every(call: Call) -> web.StreamResponse:
    """Answer the org of the key; to the operator, all orgs."""
    default = call.parts.settings.retention_seconds
    return answer(200, answers.SpiderOrgs(orgs=[_shown(org, default) for org in await orgs_of(call, None)]))


async def register(call: Call) -> web.StreamResponse:
    """Register an org with the ledger and answer with its first key; one that ended in 503 can be repeated."""
    body: RegisterSpiderOrg = call.body
    asked = requests.RegisterOrg(name=body.name, org_id=body.slug, plan=body.plan, max_in_flight=body.concurrency_slots)
    days = body.retention_days
    made = await registered(call, asked, days and days * DAY_SECONDS)
    shown = answers.RegisteredSpiderOrg(
        **msgspec.structs.asdict(_shown(made.org, call.parts.settings.retention_seconds)),
        api_key=SPIDER_PREFIX + made.secret.removeprefix(KEY_PREFIX),
    )
    return answer(201, shown, {**ledger_position(made.reply), "Cache-Control": "no-store"})


def _shown(org: Org, retention_seconds: int) -> answers.SpiderOrg:
    return answers.SpiderOrg(
        slug=org.org_id,
        name=org.name,
        plan=org.plan,
        concurrency_slots=org.max_in_flight,
        retention_days=(org.retention_seconds or retention_seconds) / DAY_SECONDS,
        created_at=iso(org.created_at),
    )


OPERATIONS = (
    Operation(
        method="GET",
        path=f"{PREFIX}/health",
        summary="Ask whether the API answers",
        access="open",
        handler=health,
        answers={200: answers.SpiderHealth},
    ),
    Operation(
        method="GET",
        path=f"{PREFIX}/orgs",
        summary="List the orgs that the key sees",
        access="read",
        operator_too=True,
        handler=every,
        answers={200: answers.SpiderOrgs},
        errors=("not_found",),
    ),
    Operation(
        method="POST",
        path=f"{PREFIX}/orgs",
        summary="Register an org; the answer shows its first key this once",
        access="operator",
        handler=register,
        body=RegisterSpiderOrg,
        answers={201: answers.RegisteredSpiderOrg},
        errors=("org_exists", "ledger_unavailable"),
    ),
)
