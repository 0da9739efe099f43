"""What all calls about spiders share: where they are served, and whose things they are about.

A key of an org sees that org alone. The operator's key sees all of them: it says which one is meant.
"""

import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace

from api.auth import Caller
from api.config import orgs
from api.config.orgs import Org
from api.config.store import Pool
from api.errors import Problem, invalid, not_found
from api.operation import Call, Operation

OrgOf = Callable[[Pool, int], Awaitable[str | None]]  # the org that has the thing of a number
_NUMBER = re.compile(r"[1-9][0-9]{0,17}", re.ASCII)
PREFIX = "/spider"  # as described; JOBLEDGER_SPIDER_PREFIX says where they are served


def about_spiders(path: str, prefix: str = PREFIX) -> bool:
    """Whether a call with this path is one about spiders."""
    return path == prefix or path.startswith(f"{prefix}/")


def served_at(path: str, prefix: str) -> str:
    """Return where a path is served that is described below PREFIX; any other path stays."""
    return f"{prefix}{path.removeprefix(PREFIX)}" if about_spiders(path) else path


def mounted(operations: Iterable[Operation], prefix: str) -> list[Operation]:
    """Return the calls as they are served."""
    return [replace(each, path=served_at(each.path, prefix)) for each in operations]


def own_org(caller: Caller, named: str | None) -> str | None:
    """Return the org that a call is about, or raise the Problem that the caller's key is of another one.

    None: it is the operator's, who names none.
    """
    if not caller.org_id:
        return named or None
    if named and named != caller.org_id:
        raise Problem("forbidden", f"this key is of the org {caller.org_id}: it sees nothing of another one")
    return caller.org_id


async def acting(call: Call, named: str | None) -> Call:
    """Return a call as one of the org that it is about: what handles it finds that org in its caller.

    Raises the Problem that it names none, one that there is not, or one that the caller's key is not of.
    """
    org_id = own_org(call.caller, named)
    if org_id is None:
        raise invalid("org", "the operator's key is of no org: name the one that is meant, as org")
    if call.caller.org_id:
        return call
    org = await registered(call, org_id)
    erasure, _ = await call.parts.keys.turned(org_id)
    caller = Caller(call.caller.actor, org_id, org.partition, call.caller.scopes, erasure=erasure)
    return replace(call, caller=caller)


async def orgs_of(call: Call, named: str | None) -> list[Org]:
    """Return the orgs that a list is of: the caller's own, the one that the operator names, or all, oldest first."""
    org_id = own_org(call.caller, named)
    if org_id is not None:
        return [await registered(call, org_id)]
    return [org for org in await orgs.every(call.parts.pool) if org.registered_at]


async def registered(call: Call, org_id: str) -> Org:
    """Return an org, or raise the Problem that there is none of this id."""
    org = await orgs.find(call.parts.pool, org_id)
    if org is None or org.registered_at is None:
        raise not_found("org")
    return org


async def acting_on(call: Call, what: str, org_of: OrgOf) -> tuple[Call, int]:
    """Return a call as one of the org that has the thing whose number is in the path, and the number.

    A key of an org looks among that org's own; the operator's is told whose it is.
    """
    text = call.request.match_info["number"]
    if not _NUMBER.fullmatch(text):
        raise not_found(what)
    number, named = int(text), call.query.org
    if own_org(call.caller, named) is None:
        named = await org_of(call.parts.pool, number)
        if named is None:
            raise not_found(what)
    return await acting(call, named), number
