"""Plan and credits of an org, which the operator changes; each change is an event of the ledger."""

from aiohttp import web

from api import requests, submission
from api.config import orgs
from api.credit_answers import OrgCredits
from api.errors import invalid
from api.http import answer
from api.operation import Call, Operation
from api.org_answers import org_of
from api.refused import problem_of, repeatable
from api.routes.jobs import ledger_position
from services.ledger.commands import ChangePlan, GrantCredits, SetCredits
from services.ledger.plans import Plan, plans_of
from services.ledger.replies import Balance, Refused, Reply
from services.runtime.ids import uuid7


async def change_credits(call: Call) -> web.StreamResponse:
    """Give an org credits, or set its balance, once however often the request is repeated with its key."""
    body: requests.ChangeCredits = call.body
    if (body.grant is None) == (body.set is None):
        raise invalid("grant", "send either grant, to add credits, or set, for the balance that it is to be")
    org = await org_of(call)
    key = submission.given_key(call.request.headers) or uuid7()
    asks = {
        **call.asks(org.org_id),
        "idempotency_digest": submission.key_digest(org.org_id, f"credits\0{key}"),
        "request_digest": submission.key_digest(org.org_id, str(body)),
    }
    command = (
        SetCredits(credits=body.set or 0, **asks) if body.grant is None else GrantCredits(credits=body.grant, **asks)
    )
    with repeatable(key):
        reply = await call.parts.commander.ask(org.partition, command)
    field = "grant" if body.grant is not None else "set"
    return answer(200, _shown(org.org_id, reply, field), {"Idempotency-Key": key, **ledger_position(reply)})


async def change_plan(call: Call) -> web.StreamResponse:
    """Put an org on a plan; jobs that were submitted before keep what they had."""
    known_plan(call, call.body.plan)
    org = await org_of(call)
    reply = await call.parts.commander.ask(org.partition, ChangePlan(**call.asks(org.org_id), plan=call.body.plan))
    shown = _shown(org.org_id, reply, "plan")
    await orgs.change_plan(call.parts.pool, org.org_id, call.body.plan)
    return answer(200, shown, ledger_position(reply))


def known_plan(call: Call, name: str) -> Plan:
    """Return a plan of the settings, or raise a Problem that names those there are."""
    plans = plans_of(call.parts.settings.plans)
    if name not in plans:
        raise invalid("plan", f"there is no plan {name!r}: use {', '.join(sorted(plans))}")
    return plans[name]


def _shown(org_id: str, reply: Reply, field: str) -> OrgCredits:
    match reply.body:
        case Balance(plan=plan, metered=metered, credits=left):
            return OrgCredits(org_id=org_id, plan=plan, metered=metered, remaining_credits=left)
        case Refused(code="bad_credits", message=message):
            raise invalid(field, message)
        case Refused() as refused:
            raise problem_of(refused)
        case other:
            raise RuntimeError(f"the ledger answered about the credits of a registered org with {other}")


OPERATIONS = (
    Operation(
        method="POST",
        path="/api/v1/orgs/{org_id}/credits",
        summary="Give an org credits, or set its balance; from the first call on its jobs cost credits",
        access="operator",
        handler=change_credits,
        body=requests.ChangeCredits,
        headers=("Idempotency-Key",),
        answers={200: OrgCredits},
        errors=("not_found", "idempotency_conflict", "ledger_unavailable"),
    ),
    Operation(
        method="PUT",
        path="/api/v1/orgs/{org_id}/plan",
        summary="Put an org on another plan; its balance stays",
        access="operator",
        handler=change_plan,
        body=requests.ChangePlan,
        answers={200: OrgCredits},
        errors=("not_found", "ledger_unavailable"),
    ),
)
