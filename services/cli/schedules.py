"""`jobledger schedules list | trigger`: an org's schedules from the command line."""

from typing import TYPE_CHECKING, Annotated

import typer

from services.cli.terminal import Json, Org, caller_of, print_json, run, show

if TYPE_CHECKING:
    from api.schedule_answers import Schedules, Triggered

app = typer.Typer()
verbs = typer.Typer(help="Schedules of an org: what is submitted when.", no_args_is_help=True)
app.add_typer(verbs, name="schedules")


@verbs.command("list")
def page(
    tag: Annotated[
        list[str] | None, typer.Option(help="Only schedules with this tag; several: with all of them.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=500, help="How many at most.")] = 50,
    cursor: Annotated[str, typer.Option(help="Go on where the page before ended.")] = "",
    org: Org = "",
    as_json: Json = False,
) -> None:
    """List the org's schedules, newest first, with when each fires next."""

    async def main() -> "Schedules":
        async with caller_of(org) as client:
            return await client.schedules(tags=tag or (), cursor=cursor, limit=limit)

    found = run(main())
    if as_json:
        print_json(found)
        return
    from services.cli.drawing import schedule_table

    show(schedule_table(found.schedules))
    if found.next_cursor:
        typer.echo(f"more: --cursor {found.next_cursor}", err=True)


@verbs.command()
def trigger(
    schedule_id: Annotated[str, typer.Argument(help="Id of the schedule.", metavar="SCHEDULE")],
    idempotency_key: Annotated[str, typer.Option(help="Repeat with the same key: it fires once.")] = "",
    org: Org = "",
    as_json: Json = False,
) -> None:
    """Fire a schedule now, without moving its clock, and print the ids of its jobs."""

    async def main() -> "Triggered":
        async with caller_of(org) as client:
            return await client.trigger(schedule_id, idempotency_key=idempotency_key)

    fired = run(main())
    if as_json:
        print_json(fired)
    else:
        typer.echo("\n".join(fired.job_ids))
