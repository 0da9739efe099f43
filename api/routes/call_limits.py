"""How many calls the keys of an org may make: the operator sets it per org; api/limits.py counts."""

import re

from aiohttp import web

from api import answers, requests
from api.auth import TRUST_SECONDS
from api.config import orgs
from api.errors import not_found
from api.http import answer
from api.operation import Call, Operation


async def change(call: Call) -> web.StreamResponse:
    """Set how many calls each key of an org may make a second; every API instance follows within seconds."""
    org_id = call.request.match_info["org_id"]
    known = re.fullmatch(requests.ID_PATTERN, org_id)
    limit = call.body.calls_per_second
    changed = await orgs.set_calls_per_second(call.parts.pool, org_id, limit) if known else None
    if changed is None:
        raise not_found("org")
    return answer(200, answers.CallLimit(org_id=changed.org_id, calls_per_second=changed.calls_per_second))


OPERATIONS = (
    Operation(
        method="PUT",
        path="/api/v1/orgs/{org_id}/call-limit",
        summary=f"Set how many calls the keys of an org may make; takes effect within {TRUST_SECONDS:g} seconds",
        access="operator",
        handler=change,
        body=requests.SetCallLimit,
        answers={200: answers.CallLimit},
        errors=("not_found",),
    ),
)
