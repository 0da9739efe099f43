"""`jobledger credits`: what an org has left, and for the operator to give, set and change."""

import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from services.cli.paths import path_of
from services.cli.terminal import Json, Org, print_json, run, told

if TYPE_CHECKING:
    from api.credit_answers import OrgCredits, PlanStatus

app = typer.Typer()
group = typer.Typer(help="What an org has left; for the operator also to give, set and change.", no_args_is_help=True)
app.add_typer(group, name="credits")
OrgName = Annotated[str, typer.Argument(help="Id of the org.", metavar="ORG")]
Amount = Annotated[int, typer.Argument(help="A whole number of credits.", metavar="CREDITS")]
Key = Annotated[str, typer.Option("--key", help="Idempotency-Key: a repeat with it counts once.")]


@group.command()
def status(org: Org = "", as_json: Json = False) -> None:
    """Show the plan of an org and what it has left."""
    from services.cli.access import access
    from services.cli.client import Client

    with told():
        found = access(os.environ, org)

    async def ask() -> "PlanStatus":
        from api.credit_answers import PlanStatus

        async with Client(found.base_url, found.key) as client:
            return await client.call("GET", "/api/v1/plans/status", PlanStatus)

    plan = run(ask())
    if as_json:
        print_json(plan)
    elif plan.metered:
        spent = f"{plan.debited} for {plan.jobs} jobs, {plan.surcharged} for surcharges, {plan.refunded} given back"
        typer.echo(f"plan {plan.plan}: {plan.remaining_credits} credits left of {plan.granted}; {spent}")
    else:
        typer.echo(f"plan {plan.plan}: not metered")


@group.command()
def grant(org: OrgName, amount: Amount, key: Key = "", as_json: Json = False) -> None:
    """Give an org credits (operator)."""
    _change("POST", path_of("orgs", org, "credits"), {"grant": amount}, key, as_json=as_json)


@group.command("set")
def set_to(org: OrgName, amount: Amount, key: Key = "", as_json: Json = False) -> None:
    """Set the balance of an org (operator)."""
    _change("POST", path_of("orgs", org, "credits"), {"set": amount}, key, as_json=as_json)


@group.command()
def plan(org: OrgName, name: Annotated[str, typer.Argument(metavar="PLAN")], as_json: Json = False) -> None:
    """Put an org on a plan (operator)."""
    _change("PUT", path_of("orgs", org, "plan"), {"plan": name}, "", as_json=as_json)


def _change(method: str, path: str, body: dict[str, Any], key: str, *, as_json: bool) -> None:
    from services.cli.client import Client
    from services.localstack.attach import api_url, operator_key
    from services.runtime.ids import uuid7

    with told():
        base_url, operator = api_url(os.environ), operator_key(os.environ)
    headers = {"Idempotency-Key": key or uuid7()} if method == "POST" else {}

    async def ask() -> "OrgCredits":
        from api.credit_answers import OrgCredits

        async with Client(base_url, operator) as client:
            return await client.call(method, path, OrgCredits, body, headers=headers)

    changed = run(ask())
    if as_json:
        print_json(changed)
    else:
        left = f"{changed.remaining_credits} credits left" if changed.metered else "not metered"
        typer.echo(f"{changed.org_id} is on plan {changed.plan}: {left}")
