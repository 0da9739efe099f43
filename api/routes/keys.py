"""API keys of the caller's org: make, list, revoke."""

import re

from aiohttp import web

from api import answers, requests
from api.auth import TRUST_SECONDS
from api.config import keys
from api.errors import not_found
from api.http import answer
from api.operation import Call, Operation
from api.times import iso, iso_or_none


async def create(call: Call) -> web.StreamResponse:
    """Make a key; its secret is in this answer and nowhere else."""
    key, secret = await keys.create(call.parts.pool, call.caller.org_id, call.body.name, call.body.scopes)
    return answer(201, new_key(key, secret), {"Cache-Control": "no-store"})


async def every(call: Call) -> web.StreamResponse:
    """Answer all keys of the org, without secrets."""
    found = await keys.every(call.parts.pool, call.caller.org_id)
    return answer(200, answers.Keys(keys=[_shown(key) for key in found]))


async def revoke(call: Call) -> web.StreamResponse:
    """Revoke a key for good; every API instance refuses it within seconds. Safe to repeat."""
    key_id = call.request.match_info["key_id"]
    known = re.fullmatch(r"[0-9a-f]{16}", key_id, re.ASCII)
    key = await keys.revoke(call.parts.pool, call.caller.org_id, key_id) if known else None
    if key is None:
        raise not_found("key")
    return answer(200, _shown(key))


def new_key(key: keys.Key, secret: str) -> answers.NewKey:
    """Show a key that was just made, with its secret."""
    return answers.NewKey(
        key_id=key.key_id,
        name=key.name,
        scopes=key.scopes,
        created_at=iso(key.created_at),
        revoked_at=None,
        secret=secret,
    )


def _shown(key: keys.Key) -> answers.Key:
    return answers.Key(
        key_id=key.key_id,
        name=key.name,
        scopes=key.scopes,
        created_at=iso(key.created_at),
        revoked_at=iso_or_none(key.revoked_at),
    )


OPERATIONS = (
    Operation(
        method="POST",
        path="/api/v1/keys",
        summary="Make a key; the answer shows its secret this once",
        access="admin",
        handler=create,
        body=requests.CreateKey,
        body_optional=True,
        answers={201: answers.NewKey},
    ),
    Operation(
        method="GET",
        path="/api/v1/keys",
        summary="List the keys of the org",
        access="admin",
        handler=every,
        answers={200: answers.Keys},
    ),
    Operation(
        method="DELETE",
        path="/api/v1/keys/{key_id}",
        summary=f"Revoke a key; it works for {TRUST_SECONDS:g} more seconds at most",
        access="admin",
        handler=revoke,
        answers={200: answers.Key},
        errors=("not_found",),
    ),
)
