"""Erasure: the operator says of which orgs new jobs are sealed, so that what is deleted is unreadable everywhere."""

from aiohttp import web

from api import requests
from api.erasure_answers import Erasure
from api.errors import Problem
from api.http import answer
from api.operation import Call, Operation
from api.org_answers import org_of
from api.parts import Parts
from api.times import iso_or_none


async def read(call: Call) -> web.StreamResponse:
    """Answer whether an org has erasure."""
    return answer(200, await _erasure(call, (await org_of(call)).org_id))


async def write(call: Call) -> web.StreamResponse:
    """Turn erasure on or off for the jobs to come; what is sealed stays so, and what is not is not sealed later."""
    org_id = (await org_of(call)).org_id
    await turn(call.parts, org_id, on=call.body.enabled)
    return answer(200, await _erasure(call, org_id))


async def turn(parts: Parts, org_id: str, *, on: bool) -> None:
    """Turn the erasure of an org on or off, or raise the Problem that keeps it from being turned on."""
    if on and not parts.keys.usable:
        message = "nothing can be sealed here: the operator has to set JOBLEDGER_CREDENTIALS_KEY"
        raise Problem("erasure_disabled", message, field="erasure")
    await parts.keys.turn(org_id, on=on)


async def _erasure(call: Call, org_id: str) -> Erasure:
    enabled, since = await call.parts.keys.turned(org_id)
    return Erasure(org_id=org_id, enabled=enabled, since=iso_or_none(since))


PATH = "/api/v1/orgs/{org_id}/erasure"
OPERATIONS = (
    Operation(
        method="GET",
        path=PATH,
        summary="Read whether new jobs of an org are sealed",
        access="operator",
        handler=read,
        answers={200: Erasure},
        errors=("not_found",),
    ),
    Operation(
        method="PUT",
        path=PATH,
        summary="Say whether new jobs of an org are sealed, so that deleting one makes it unreadable in the log too",
        access="operator",
        handler=write,
        body=requests.SetErasure,
        answers={200: Erasure},
        errors=("not_found", "erasure_disabled"),
    ),
)
