"""Destinations of the caller's org: add, list, remove. They are frozen into each job when it is submitted."""

from aiohttp import web

from api import answers, requests
from api.config import destinations, orgs
from api.errors import Problem, invalid, not_found
from api.http import answer
from api.operation import Call, Operation
from schemas.values import Destination, OnExhausted
from services.ledger.plans import plan_named, plans_of


async def add(call: Call) -> web.StreamResponse:
    """Add a destination; jobs that were submitted before do not get it. Safe to repeat."""
    if not call.parts.settings.clickhouse:
        raise invalid("kind", "no ClickHouse is configured here: set JOBLEDGER_CLICKHOUSE and run its writer")
    body = call.body
    await _on_plan(call, body.kind)
    for name in body.settings:
        raise invalid(
            f"settings.{name}",
            f"a destination of kind {body.kind} has no settings, leave it out: its rows are in extraction_results, "
            "told apart by org_id and destination_id",
        )
    wanted = Destination(
        destination_id=body.destination_id,
        kind=body.kind,
        gating=body.gating,
        on_exhausted=OnExhausted(body.on_exhausted),
        gate_seconds=body.gate_seconds,
    )
    made = await destinations.add(call.parts.pool, call.caller.org_id, wanted)
    if made is None:
        raise Problem("destination_exists", f"{body.destination_id} is another destination", field="destinationId")
    return answer(201, _shown(made))


async def _on_plan(call: Call, kind: str) -> None:
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
    """Answer the stores to which the extraction of a job submitted now goes; webhooks have calls of their own."""
    found = await destinations.stores(call.parts.pool, call.caller.org_id)
    return answer(200, answers.Destinations(destinations=list(map(_shown, found))))


async def read(call: Call) -> web.StreamResponse:
    """Answer one of these stores."""
    name = call.request.match_info["destination_id"]
    found = await destinations.stores(call.parts.pool, call.caller.org_id)
    shown = [_shown(each) for each in found if each.destination_id == name]
    if not shown:
        raise not_found("destination")
    return answer(200, shown[0])


async def change(call: Call) -> web.StreamResponse:
    """Change a destination; jobs that have it keep what they were submitted with. The internal one stays as it is."""
    body: requests.ChangeDestination = call.body
    changed = await destinations.change(
        call.parts.pool,
        call.caller.org_id,
        call.request.match_info["destination_id"],
        gating=body.gating,
        on_exhausted=body.on_exhausted,
        gate_seconds=body.gate_seconds,
    )
    if changed is None:
        raise not_found("destination that can be changed")
    return answer(200, _shown(changed))


async def remove(call: Call) -> web.StreamResponse:
    """Remove a destination; jobs that have it keep it. The internal one stays."""
    name = call.request.match_info["destination_id"]
    removed = await destinations.remove(call.parts.pool, call.caller.org_id, name)
    if removed is None:
        raise not_found("destination")
    return answer(200, _shown(removed))


def _shown(destination: Destination) -> answers.ConfiguredDestination:
    return answers.ConfiguredDestination(
        destination_id=destination.destination_id,
        kind=destination.kind,
        gating=destination.gating,
        on_exhausted=destination.on_exhausted.value,
        gate_seconds=destination.gate_seconds,
    )


OPERATIONS = (
    Operation(
        method="POST",
        path="/api/v1/destinations",
        summary="Let the extractions of jobs submitted from now on go to ClickHouse too",
        access="admin",
        handler=add,
        body=requests.AddDestination,
        answers={201: answers.ConfiguredDestination},
        errors=("not_on_plan", "destination_exists"),
    ),
    Operation(
        method="GET",
        path="/api/v1/destinations",
        summary="List the destinations of the org",
        access="read",
        handler=every,
        answers={200: answers.Destinations},
    ),
    Operation(
        method="GET",
        path="/api/v1/destinations/{destination_id}",
        summary="Read a destination",
        access="read",
        handler=read,
        answers={200: answers.ConfiguredDestination},
        errors=("not_found",),
    ),
    Operation(
        method="PATCH",
        path="/api/v1/destinations/{destination_id}",
        summary="Change a destination for jobs submitted from now on",
        access="admin",
        handler=change,
        body=requests.ChangeDestination,
        answers={200: answers.ConfiguredDestination},
        errors=("not_found",),
    ),
    Operation(
        method="DELETE",
        path="/api/v1/destinations/{destination_id}",
        summary="Remove a destination; jobs that have it keep it",
        access="admin",
        handler=remove,
        answers={200: answers.ConfiguredDestination},
        errors=("not_found",),
    ),
)
