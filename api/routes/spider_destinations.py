"""Destinations of spiders: where the items of a project's jobs go. None of them gates."""

import secrets
from collections.abc import Mapping
from typing import Any

import msgspec
from aiohttp import web

from api.config import project_destinations
from api.config.project_destinations import ProjectDestination, Wanted
from api.errors import invalid, not_found
from api.http import answer
from api.operation import Call, Operation
from api.routes.destinations import on_plan, read_both
from api.spiders import answers, requests
from api.spiders.frame import PREFIX, acting, acting_on, orgs_of
from api.spiders.there import refuse_no_project
from services.writers.warehouses.kinds import KINDS, place_of


async def every(call: Call) -> web.StreamResponse:
    """Answer the destinations of a project, or of all projects of an org; nothing shows a secret."""
    orgs = [org.org_id for org in await orgs_of(call, call.query.org)]
    found = await project_destinations.of_projects(call.parts.pool, orgs, call.query.project)
    return answer(200, answers.SpiderDestinations(destinations=list(map(_shown, found))))


async def add(call: Call) -> web.StreamResponse:
    """Let the items of jobs that are submitted from now on go to a warehouse too. A repeat adds another one."""
    body: requests.AddSpiderDestination = call.body
    call = await acting(call, body.org)
    await refuse_no_project(call, body.project)
    if body.kind not in KINDS:
        raise invalid("kind", f"there is no writer of {body.kind} for items: take one of {', '.join(KINDS)}")
    await on_plan(call, body.kind)
    destination_id = f"spider-{secrets.token_hex(6)}"  # its secrets are sealed with this in them
    settings, sealed = read_both(call, body.kind, destination_id, *_apart(body))
    wanted = Wanted(destination_id, body.name, body.kind, body.enabled, settings or {}, sealed)
    made = await project_destinations.add(call.parts.pool, call.caller.org_id, body.project, wanted)
    return answer(201, _shown(made))


async def remove(call: Call) -> web.StreamResponse:
    """Remove a destination; what still waits for it is closed."""
    call, number = await acting_on(call, "destination", project_destinations.org_of)
    removed = await project_destinations.remove(call.parts.pool, call.caller.org_id, number)
    if removed is None:
        raise not_found("destination")
    return answer(200, answers.DeletedByNumber(id=number, deleted=True))


def _apart(body: requests.AddSpiderDestination) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return settings and secrets: clients of this API send both as settings."""
    kind = KINDS[body.kind]
    names = {field.encode_name for field in msgspec.structs.fields(kind.secrets)}
    names -= {field.encode_name for field in msgspec.structs.fields(kind.settings)}  # type: ignore[arg-type]
    own = {name: value for name, value in body.settings.items() if name not in names}
    return own, {name: value for name, value in body.settings.items() if name in names} | body.secrets


def _shown(found: ProjectDestination) -> answers.SpiderDestination:
    return answers.SpiderDestination(
        id=found.number,
        org=found.org_id,
        project=found.project,
        name=found.name,
        kind=found.kind,
        place=place_of(found.kind, found.settings),
        settings=found.settings,
        fingerprint=found.fingerprint or None,
        enabled=found.enabled,
    )


OPERATIONS = (
    Operation(
        method="GET",
        path=f"{PREFIX}/destinations",
        summary="List the destinations of projects",
        access="read",
        operator_too=True,
        handler=every,
        query=requests.OfProject,
        answers={200: answers.SpiderDestinations},
        errors=("not_found",),
    ),
    Operation(
        method="POST",
        path=f"{PREFIX}/destinations",
        summary="Let the items of a project's jobs go to a warehouse",
        access="admin",
        operator_too=True,
        handler=add,
        body=requests.AddSpiderDestination,
        answers={201: answers.SpiderDestination},
        errors=("not_found", "not_on_plan", "credentials_disabled"),
    ),
    Operation(
        method="DELETE",
        path=f"{PREFIX}/destinations/{{number}}",
        summary="Remove a destination of a project",
        access="admin",
        operator_too=True,
        handler=remove,
        query=requests.OfOrg,
        answers={200: answers.DeletedByNumber},
        errors=("not_found",),
    ),
)
