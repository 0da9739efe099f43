"""`jobledger explain`: why a job stands where it stands, now or at any position of the log."""

import os
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli.terminal import Json, Org, fail, print_json, run, told

if TYPE_CHECKING:
    from api.explain_answers import Explanation

app = typer.Typer()


@app.command()
def explain(
    job_id: Annotated[str, typer.Argument(help="Id of the job.", metavar="JOB")],
    at: Annotated[
        str,
        typer.Option(help="As of this place of the log, partition:position: folded from the log, for operators."),
    ] = "",
    org: Org = "",
    as_json: Json = False,
) -> None:
    """Say what a job waits for, or how it ended."""
    explanation = _then(job_id, at) if at else _now(job_id, org)
    if as_json:
        print_json(explanation)
        return
    typer.echo(f"{explanation.job_id} is {explanation.status} since {explanation.since}: {explanation.message}")


def _now(job_id: str, org: str) -> "Explanation":
    from services.cli.access import access
    from services.cli.client import Client

    with told():
        found = access(os.environ, org)

    async def ask() -> "Explanation":
        async with Client(found.base_url, found.key) as client:
            return await client.explain(job_id)

    return run(ask())


def _then(job_id: str, place: str) -> "Explanation":
    from api.explained import live
    from services.decider.past import state_at
    from services.ledger.explain import explain as why
    from services.localstack.attach import attached_settings
    from services.runtime.policy import policy_of
    from services.runtime.registry import decoder

    partition, _, position = place.partition(":")
    if not (partition.isdecimal() and position.isdecimal()):
        fail(f"--at takes partition:position, for example 3:4711, not {place}")
    with told():
        settings = attached_settings(os.environ)
        if int(partition) >= settings.partitions:
            fail(f"--at: the ledger has partitions 0 to {settings.partitions - 1}")
        ledger = state_at(settings, int(partition), decoder(settings), policy_of(settings), int(position))
    job = ledger.jobs.get(job_id)
    if job is None:
        fail(f"partition {partition} had no such job at position {position}, or it had ended long before")
    return live(job_id, why(ledger, job))
