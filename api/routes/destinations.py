"""Destinations of the caller's org: add, list, change, try, remove; each job has them from when it is submitted."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec
from aiohttp import web

from api import config_answers, requests
from api.config import destinations, orgs
from api.config.destinations import Secrets, Stored
from api.errors import Gathering, Problem, invalid, not_found, together
from api.faults import faults, sound
from api.http import answer
from api.operation import Call, Operation
from schemas.values import Destination, OnExhausted
from services.ledger.plans import plan_named, plans_of
from services.runtime.errors import Unsealable
from services.runtime.kept_secrets import Owner, sealed_for
from services.runtime.sealing import Sealer
from services.runtime.settings import Settings
from services.writers.warehouses.checks import refusals
from services.writers.warehouses.delivering import REFUSED
from services.writers.warehouses.kinds import KINDS, Kind, SettingsFault, place_of
from services.writers.warehouses.secret import opening_of
from services.writers.warehouses.trying import TRY_SECONDS, Tried, tried


async def add(call: Call) -> web.StreamResponse:
    """Add a destination; jobs that were submitted before do not get it. Safe to repeat."""
    body: requests.AddDestination = call.body
    _check_kind(call, body)
    await on_plan(call, body.kind)
    name = body.destination_id or body.kind
    wanted = Destination(
        destination_id=name,
        kind=body.kind,
        gating=body.gating,
        on_exhausted=OnExhausted(body.on_exhausted),
        gate_seconds=body.gate_seconds,
    )
    settings, secrets = read_both(call, body.kind, name, body.settings, body.secrets)
    made = await destinations.add(call.parts.pool, call.caller.org_id, wanted, settings or {}, secrets)
    if made is None:
        raise Problem("destination_exists", f"{name} is another destination", field="destinationId")
    return answer(201, _shown(made))


def _check_kind(call: Call, body: requests.AddDestination) -> None:
    """Refuse a kind that cannot be had here, and settings where it has none."""
    if body.kind in KINDS:
        return
    if body.kind != "clickhouse":
        raise invalid("kind", f"there is no writer of {body.kind} here: take one of clickhouse, {', '.join(KINDS)}")
    if not call.parts.settings.clickhouse:
        raise invalid("kind", "no ClickHouse is configured here: set JOBLEDGER_CLICKHOUSE and run its writer")
    for what, given in (("settings", body.settings), ("secrets", body.secrets)):
        for name in given:
            raise invalid(
                f"{what}.{name}",
                f"a destination of kind {body.kind} has no {what}, leave it out: its rows are in extraction_results, "
                "told apart by org_id and destination_id",
            )


def read_both(
    call: Call, kind: str, name: str, settings: Mapping[str, Any] | None, secrets: Mapping[str, Any] | None
) -> tuple[Mapping[str, Any] | None, Secrets | None]:
    """Return settings with their defaults and secrets sealed, both where given, or name every field at fault."""
    if kind not in KINDS:
        return settings, None
    gathering = Gathering()
    with gathering.looking():
        settings = None if settings is None else _read(KINDS[kind].read_settings, settings)
    with gathering.looking():
        sealed = None if secrets is None else _sealed(call, kind, name, secrets)
    gathering.done()
    return settings, sealed


def _read(read: Callable[[Mapping[str, Any]], Any], given: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return settings or secrets with their defaults; an error names the fields."""
    try:
        plain: Mapping[str, Any] = msgspec.to_builtins(read(given))
    except SettingsFault as fault:
        what = fault.field.partition(".")[0]
        raise together(list(_all_faults(given, fault.shape, what)) or [invalid(fault.field, str(fault))]) from None
    return plain


def _all_faults(given: Mapping[str, Any], shape: type[Any], what: str) -> Iterator[Problem]:
    """Yield a problem per field of settings or secrets: those of a wrong type, then those of no use all the same."""
    yield from (problem.within(what) for problem in faults(given, shape, strict=True))
    yield from (invalid(f"{what}.{field}", said) for field, said in refusals(shape, sound(given, shape)))


def _faults(_: Settings, given: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield what is wrong with the settings and secrets of a body that is at fault elsewhere too."""
    kind = KINDS.get(given.get("kind") or "")
    for what, shape in (("settings", kind.settings), ("secrets", kind.secrets)) if kind else ():
        if given.get(what):
            yield from _all_faults(given[what], shape, what)


def _sealed(call: Call, kind: str, name: str, given: Mapping[str, Any]) -> Secrets:
    keys = call.parts.settings.credentials_key
    if not keys:
        message = "secrets cannot be kept here: the operator has to set JOBLEDGER_CREDENTIALS_KEY"
        raise Problem("credentials_disabled", message)
    read = _read(KINDS[kind].read_secrets, given)
    return Secrets(*sealed_for(Sealer(keys), Owner("warehouse", call.caller.org_id, name), read))


async def on_plan(call: Call, kind: str) -> None:
    """Refuse a kind that the plan of the org does not have."""
    org = await orgs.find(call.parts.pool, call.caller.org_id)
    plans = plans_of(call.parts.settings.plans)
    if org and not plan_named(plans, org.plan).has(kind):
        others = ", ".join(sorted(name for name, plan in plans.items() if plan.has(kind)))
        message = (
            f"the plan {org.plan!r} has no destinations of kind {kind}: ask the operator for {others or 'another'}"
        )
        raise Problem("not_on_plan", message, field="kind", details={"plan": org.plan})


async def every(call: Call) -> web.StreamResponse:
    """Answer the stores of the org; webhooks have calls of their own."""
    found = await destinations.stores(call.parts.pool, call.caller.org_id)
    return answer(200, config_answers.Destinations(destinations=list(map(_shown, found))))


async def read(call: Call) -> web.StreamResponse:
    """Answer one of these stores."""
    return answer(200, _shown(await _found(call)))


async def _found(call: Call) -> Stored:
    name = call.request.match_info["destination_id"]
    found = await destinations.find(call.parts.pool, call.caller.org_id, name)
    if found is None:
        raise not_found("destination")
    return found


async def change(call: Call) -> web.StreamResponse:
    """Change a destination. The internal one stays as it is."""
    body: requests.ChangeDestination = call.body
    there = await _found(call)
    for what, given in (("settings", body.settings), ("secrets", body.secrets)):
        if given is not None and there.kind not in KINDS:
            raise invalid(what, f"a destination of kind {there.kind} has no {what}, leave them out")
    settings, secrets = read_both(call, there.kind, there.destination_id, body.settings, body.secrets)
    changed = await destinations.change(
        call.parts.pool,
        call.caller.org_id,
        there.destination_id,
        {
            "gating": body.gating,
            "on_exhausted": body.on_exhausted,
            "gate_seconds": body.gate_seconds,
            "enabled": body.enabled,
        },
        settings,
        secrets,
    )
    if changed is None:
        raise not_found("destination that can be changed")
    return answer(200, _shown(changed))


async def remove(call: Call) -> web.StreamResponse:
    """Remove a destination; what waits for it in jobs that have it is closed. The internal one stays."""
    name = call.request.match_info["destination_id"]
    removed = await destinations.remove(call.parts.pool, call.caller.org_id, name)
    if removed is None:
        raise not_found("destination")
    return answer(200, _shown(removed))


async def test(call: Call) -> web.StreamResponse:
    """Connect to a warehouse of the org's own, make its table, and answer what came of it."""
    stored = await _found(call)
    kind = KINDS.get(stored.kind)
    if kind is None:
        raise invalid("destination_id", f"a destination of kind {stored.kind} is one of ours: there is nothing to try")
    came = await _tried(call, kind, stored)
    return answer(
        200,
        config_answers.TestedDestination(
            destination_id=stored.destination_id,
            ok=not came.error_type,
            place=place_of(stored.kind, stored.settings),
            error_type=came.error_type or None,
            message=came.message or None,
            columns=list(came.columns),
            seconds=came.seconds,
        ),
    )


async def _tried(call: Call, kind: Kind, stored: Stored) -> Tried:
    given = call.parts.settings
    sealer = Sealer(given.credentials_key) if given.credentials_key else None
    try:
        opening = opening_of(
            kind,
            sealer,
            (call.caller.org_id, stored.destination_id),
            stored.settings,
            stored.sealed,
            allowed=given.allowed_networks,
        )
    except (Unsealable, SettingsFault) as error:
        return Tried(0.0, (), REFUSED, str(error))
    return await tried(kind, opening)


def _shown(stored: Stored) -> config_answers.ConfiguredDestination:
    return config_answers.ConfiguredDestination(
        destination_id=stored.destination_id,
        kind=stored.kind,
        gating=stored.gating,
        on_exhausted=stored.on_exhausted,
        gate_seconds=stored.gate_seconds,
        enabled=stored.enabled,
        place=place_of(stored.kind, stored.settings),
        settings=stored.settings,
        fingerprint=stored.fingerprint or None,
    )


OPERATIONS = (
    Operation(
        method="POST",
        path="/api/v1/destinations",
        summary="Let the extractions of jobs submitted from now on go to a warehouse too",
        access="admin",
        handler=add,
        body=requests.AddDestination,
        faults=_faults,
        answers={201: config_answers.ConfiguredDestination},
        errors=("not_on_plan", "destination_exists", "credentials_disabled"),
    ),
    Operation(
        method="GET",
        path="/api/v1/destinations",
        summary="List the destinations of the org",
        access="read",
        handler=every,
        answers={200: config_answers.Destinations},
    ),
    Operation(
        method="GET",
        path="/api/v1/destinations/{destination_id}",
        summary="Read a destination",
        access="read",
        handler=read,
        answers={200: config_answers.ConfiguredDestination},
        errors=("not_found",),
    ),
    Operation(
        method="PATCH",
        path="/api/v1/destinations/{destination_id}",
        summary="Change a destination, or give it other secrets",
        access="admin",
        handler=change,
        body=requests.ChangeDestination,
        answers={200: config_answers.ConfiguredDestination},
        errors=("not_found", "credentials_disabled"),
    ),
    Operation(
        method="POST",
        path="/api/v1/destinations/{destination_id}/test",
        summary=f"Connect to a destination and make its table; what came of it, within {TRY_SECONDS:g} s",
        access="admin",
        handler=test,
        answers={200: config_answers.TestedDestination},
        errors=("not_found", "invalid_field"),
    ),
    Operation(
        method="DELETE",
        path="/api/v1/destinations/{destination_id}",
        summary="Remove a destination; what still waits for it is closed",
        access="admin",
        handler=remove,
        answers={200: config_answers.ConfiguredDestination},
        errors=("not_found",),
    ),
)
