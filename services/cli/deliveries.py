"""`jobledger deliveries list | redeliver | waive`: what a job delivered where, once more, or no longer waited for."""

from typing import TYPE_CHECKING, Annotated

import typer

from services.cli.terminal import Json, Org, caller_of, print_json, run, show

if TYPE_CHECKING:
    from api.delivery_answers import DeliveryOrder, JobDeliveries

app = typer.Typer()
verbs = typer.Typer(help="Deliveries of a job to its destinations.", no_args_is_help=True)
app.add_typer(verbs, name="deliveries")
JobId = Annotated[str, typer.Argument(help="Id of the job.", metavar="JOB")]
Place = Annotated[str, typer.Argument(help="Id of the destination, as `list` shows it.", metavar="DESTINATION")]


@verbs.command("list")
def page(job_id: JobId, org: Org = "", as_json: Json = False) -> None:
    """List the deliveries of a job: how often each was tried, what came of it, and what comes next."""

    async def main() -> "JobDeliveries":
        async with caller_of(org) as client:
            return await client.deliveries(job_id)

    found = run(main())
    if as_json:
        print_json(found)
        return
    from services.cli.drawing import delivery_table

    show(delivery_table(found.deliveries))


@verbs.command()
def redeliver(job_id: JobId, destination_id: Place, org: Org = "", as_json: Json = False) -> None:
    """Deliver a job to a destination once more, as a new generation."""
    _order(job_id, destination_id, "redeliver", org, as_json=as_json)


@verbs.command()
def waive(job_id: JobId, destination_id: Place, org: Org = "", as_json: Json = False) -> None:
    """Stop waiting for a destination, and stop trying it: the job goes on without it."""
    _order(job_id, destination_id, "waive", org, as_json=as_json)


def _order(job_id: str, destination_id: str, verb: str, org: str, *, as_json: bool) -> None:
    async def main() -> "DeliveryOrder":
        async with caller_of(org) as client:
            return await client.order_delivery(job_id, destination_id, verb)

    ordered = run(main())
    if as_json:
        print_json(ordered)
    else:
        typer.echo(f"{verb}: {ordered.destination_id}, generation {ordered.generation} of {ordered.job_id}")
