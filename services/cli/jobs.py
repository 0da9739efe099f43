"""`jobledger submit | get | list | cancel | delete`: an org's jobs from the command line."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli.terminal import Json, Org, caller_of, fail, print_json, run, show

if TYPE_CHECKING:
    from api.answers import Job
    from services.cli.client import Client

app = typer.Typer()
WAIT_POLL_SECONDS = 0.5
JobId = Annotated[str, typer.Argument(help="Id of the job.", metavar="JOB")]


@app.command()
def submit(
    urls: Annotated[list[str], typer.Argument(help="One url or many.", metavar="URL...")],
    workflow: Annotated[str, typer.Option(help="Workflow to run; default: the only one published.")] = "",
    metadata: Annotated[str, typer.Option(help="JSON object that the jobs carry.")] = "",
    idempotency_key: Annotated[str, typer.Option(help="Repeat with the same key: no job is made twice.")] = "",
    wait: Annotated[bool, typer.Option("--wait", help="Wait until every job has ended and show it.")] = False,
    timeout: Annotated[float, typer.Option(help="Seconds that --wait waits.")] = 300.0,
    org: Org = "",
    as_json: Json = False,
) -> None:
    """Submit a job for each url.

    With --wait, exit code 1 says that not every job was completed.
    """
    from services.cli.client import PATIENCE_SECONDS
    from services.cli.errors import ApiSilent
    from services.runtime.ids import uuid7

    carried = _json_object(metadata) if metadata else None
    key = idempotency_key or uuid7()

    async def main() -> tuple[list[str], list["Job"]]:
        async with caller_of(org) as client:
            try:
                job_ids = await client.submit(urls, workflow_id=workflow, metadata=carried, idempotency_key=key)
            except ApiSilent as silent:
                again = f"repeat with --idempotency-key {key}: no job is made twice"
                raise ApiSilent(f"{silent}\nno answer within {PATIENCE_SECONDS:g} s; {again}") from silent
            return job_ids, await _ended(client, job_ids, timeout) if wait else []

    job_ids, ended = run(main())
    if as_json:
        pending = [{"jobId": job_id, "status": "pending"} for job_id in job_ids]
        print_json({"jobs": ended if wait else pending})
    elif not wait:
        typer.echo("\n".join(job_ids))
    else:
        _draw(ended)
    if wait and any(job.status != "completed" for job in ended):
        raise typer.Exit(1)


@app.command()
def get(job_id: JobId, org: Org = "", as_json: Json = False) -> None:
    """Show where a job stands and how it got there."""

    async def main() -> "Job":
        async with caller_of(org) as client:
            return await client.job(job_id)

    job = run(main())
    if as_json:
        print_json(job)
    else:
        _draw([job])


@app.command("list")
def page(
    status: Annotated[str, typer.Option(help="Only jobs in this state.")] = "",
    limit: Annotated[int, typer.Option(min=1, max=500, help="How many at most.")] = 20,
    cursor: Annotated[str, typer.Option(help="Go on where the page before ended.")] = "",
    org: Org = "",
    as_json: Json = False,
) -> None:
    """List the org's jobs, newest first."""

    async def main() -> None:
        async with caller_of(org) as client:
            found = await client.page(status=status, cursor=cursor, limit=limit)
        if as_json:
            print_json(found)
            return
        from services.cli.drawing import job_table

        show(job_table(found.jobs))
        if found.next_cursor:
            typer.echo(f"more: --cursor {found.next_cursor}", err=True)

    run(main())


@app.command()
def cancel(job_id: JobId, org: Org = "", as_json: Json = False) -> None:
    """Cancel a job that has not ended."""
    from services.cli.client import PROMPT_SECONDS

    async def main() -> None:
        async with caller_of(org, PROMPT_SECONDS) as client:
            cancelled = await client.cancel(job_id)
        if as_json:
            print_json(cancelled)
        else:
            typer.echo(f"{cancelled.job_id} is cancelled")

    run(main())


@app.command()
def delete(job_id: JobId, org: Org = "", as_json: Json = False) -> None:
    """Delete a job for good; one that has not ended is cancelled first."""
    from services.cli.client import PROMPT_SECONDS

    async def main() -> None:
        async with caller_of(org, PROMPT_SECONDS) as client:
            deleted = await client.delete(job_id)
        if as_json:
            print_json(deleted)
        else:
            typer.echo(f"{deleted.job_id} is deleted")

    run(main())


async def _ended(client: "Client", job_ids: Sequence[str], timeout: float) -> list["Job"]:  # noqa: ASYNC109
    """Wait until every job has ended, for so many seconds at most, and return them all as they are then."""
    import asyncio

    from services.ledger.status import TERMINAL

    deadline = time.monotonic() + timeout
    while True:
        statuses = await client.statuses(job_ids)
        if all(statuses.get(job_id) in TERMINAL for job_id in job_ids) or time.monotonic() >= deadline:
            return [await client.job(job_id) for job_id in job_ids]
        await asyncio.sleep(WAIT_POLL_SECONDS)


def _draw(jobs: Sequence["Job"]) -> None:
    from services.cli.drawing import drawn_job

    for number, job in enumerate(jobs):
        show(*([""] if number else []), drawn_job(job))


def _json_object(text: str) -> dict[str, object]:
    import msgspec

    try:
        return msgspec.json.decode(text, type=dict[str, object])
    except msgspec.DecodeError as error:
        fail(f"--metadata takes a JSON object: {error}")
