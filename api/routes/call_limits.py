"""How many calls the keys of an org may make: the operator sets it per org; api/limits.py counts."""

from aiohttp import web

from api import config_answers, requests
from api.auth import TRUST_SECONDS
from api.config import orgs
from api.errors import not_found
from api.http import answer
from api.operation import Call, Operation
from api.org_answers import org_of


async def change(call: Call) -> web.StreamResponse:
    """Set how many calls each key of an org may make a second; every API instance follows within seconds."""
    org = await org_of(call)
    changed = await orgs.set_calls_per_second(call.parts.pool, org.org_id, call.body.calls_per_second)
    if changed is None:
        raise not_found("org")
    return answer(200, config_answers.CallLimit(org_id=changed.org_id, calls_per_second=changed.calls_per_second))


OPERATIONS = (
    Operation(
        method="PUT",
        path="/api/v1/orgs/{org_id}/call-limit",
        summary=f"Set how many calls the keys of an org may make; takes effect within {TRUST_SECONDS:g} seconds",
        access="operator",
        handler=change,
        body=requests.SetCallLimit,
        answers={200: config_answers.CallLimit},
        errors=("not_found",),
    ),
)
