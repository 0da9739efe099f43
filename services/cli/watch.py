"""`jobledger watch`: what happens to a job, as it happens."""

import os
from typing import TYPE_CHECKING

import typer

from services.cli.jobs import JobId
from services.cli.terminal import Json, Org, print_json, run, show, told

if TYPE_CHECKING:
    from rich.text import Text

    from services.cli.following import Sent

app = typer.Typer()
COMPLETED = "completed"


@app.command()
def watch(job_id: JobId, org: Org = "", as_json: Json = False) -> None:
    """Follow a job until it has ended, also over restarts of the API.

    Exit code 1 says that it was not completed.
    """
    from services.cli.access import access

    with told():
        found = access(os.environ, org)
    status = run(_follow(found.base_url, found.key, job_id, as_json=as_json))
    if status != COMPLETED:
        raise typer.Exit(1)


async def _follow(base_url: str, key: str, job_id: str, *, as_json: bool) -> str:
    """Print what comes; return the status in which the job ended."""
    from services.cli.client import Client
    from services.cli.drawing import heading
    from services.cli.following import follow

    status = ""
    async for sent in follow(base_url, key, job_id):
        status = str(sent.data.get("status", status))
        if as_json:
            print_json(sent)
        elif line := _line(sent):
            show(line)
    if not status:  # it had ended before
        async with Client(base_url, key) as client:
            job = await client.job(job_id)
        print_json(job) if as_json else show(heading(job))
        status = job.status
    return status


def _line(sent: "Sent") -> "Text | None":
    import msgspec
    from rich.text import Text

    from api.answers import Job
    from api.stream_answers import StreamedEvent
    from services.cli.drawing import event_line, heading

    match sent.event:
        case "snapshot":
            return heading(msgspec.convert(sent.data, Job))
        case "event" | "done":
            return event_line(msgspec.convert(sent.data, StreamedEvent))
        case "reset":
            return Text(f"begins anew: {sent.data['reason']}", style="yellow")
        case "close" if not sent.data["reconnect"]:
            return Text(f"ended by the API: {sent.data['reason']}", style="red")
        case _:
            return None
