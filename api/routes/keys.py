"""API keys of the caller's org: make, list, rotate, revoke."""

import re
from datetime import timedelta

from aiohttp import web

from api import config_answers, requests
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
    return answer(200, config_answers.Keys(keys=[_shown(key) for key in found]))


async def rotate(call: Call) -> web.StreamResponse:
    """Make a key like this one; its secret is in this answer and nowhere else. The old one works for the overlap."""
    overlap = timedelta(seconds=call.body.overlap_seconds)
    made = await keys.rotate(call.parts.pool, call.caller.org_id, _key_id_of(call), overlap)
    call.parts.keyring.forget(_key_id_of(call))
    if made is None:
        raise not_found("live key")
    return answer(201, new_key(*made), {"Cache-Control": "no-store"})


async def revoke(call: Call) -> web.StreamResponse:
    """Revoke a key for good; this API instance refuses it at once, every other within seconds. Safe to repeat."""
    key = await keys.revoke(call.parts.pool, call.caller.org_id, _key_id_of(call))
    call.parts.keyring.forget(_key_id_of(call))
    if key is None:
        raise not_found("key")
    return answer(200, _shown(key))


def _key_id_of(call: Call) -> str:
    key_id = call.request.match_info["key_id"]
    if not re.fullmatch(r"[0-9a-f]{16}", key_id, re.ASCII):
        raise not_found("key")
    return key_id


def new_key(key: keys.Key, secret: str) -> config_answers.NewKey:
    """Show a key that was just made, with its secret."""
    return config_answers.NewKey(
        key_id=key.key_id,
        name=key.name,
        scopes=key.scopes,
        created_at=iso(key.created_at),
        revoked_at=None,
        expires_at=None,
        last_used_at=None,
        secret=secret,
    )


def _shown(key: keys.Key) -> config_answers.Key:
    return config_answers.Key(
        key_id=key.key_id,
        name=key.name,
        scopes=key.scopes,
        created_at=iso(key.created_at),
        revoked_at=iso_or_none(key.revoked_at),
        expires_at=iso_or_none(key.expires_at),
        last_used_at=iso_or_none(key.last_used_at),
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
        answers={201: config_answers.NewKey},
    ),
    Operation(
        method="GET",
        path="/api/v1/keys",
        summary="List the keys of the org",
        access="admin",
        handler=every,
        answers={200: config_answers.Keys},
    ),
    Operation(
        method="POST",
        path="/api/v1/keys/{key_id}/rotate",
        summary="Make a key in place of another, which works for some time still",
        access="admin",
        handler=rotate,
        body=requests.RotateKey,
        body_optional=True,
        answers={201: config_answers.NewKey},
        errors=("not_found",),
    ),
    Operation(
        method="DELETE",
        path="/api/v1/keys/{key_id}",
        summary=f"Revoke a key; it works for {TRUST_SECONDS:g} more seconds at most",
        access="admin",
        handler=revoke,
        answers={200: config_answers.Key},
        errors=("not_found",),
    ),
)
