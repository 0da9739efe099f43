"""`jobledger org` and `jobledger workflow`: what is held back, and how much an org may have in its queue."""

import os
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli.paths import path_of
from services.cli.terminal import Json, Org, fail, print_json, run, told

if TYPE_CHECKING:
    from api.config_answers import Org as OrgAnswer
    from api.config_answers import WorkflowPause

app = typer.Typer()
org_app = typer.Typer(no_args_is_help=True, help="Limits and pauses of an org, for its operator.")
workflow_app = typer.Typer(no_args_is_help=True, help="Pauses of a workflow, for its org.")
app.add_typer(org_app, name="org")
app.add_typer(workflow_app, name="workflow")
OrgId = Annotated[str, typer.Argument(help="Id of the org.", metavar="ORG")]
WorkflowId = Annotated[str, typer.Argument(help="Id of the workflow.", metavar="WORKFLOW")]


@org_app.command("pause")
def pause_org(org_id: OrgId, as_json: Json = False) -> None:
    """Let no job of an org start; what runs goes on."""
    _tell_org(_of_org("POST", path_of("orgs", org_id, "pause"), None), as_json=as_json)


@org_app.command("resume")
def resume_org(org_id: OrgId, as_json: Json = False) -> None:
    """Let jobs of an org start again."""
    _tell_org(_of_org("POST", path_of("orgs", org_id, "resume"), None), as_json=as_json)


@org_app.command("limit")
def limit_org(
    org_id: OrgId,
    in_flight: Annotated[int | None, typer.Option(help="Jobs dispatched or running at once.")] = None,
    pending: Annotated[int | None, typer.Option(help="Jobs that may be pending; 0: the default.")] = None,
    queue_seconds: Annotated[
        int | None, typer.Option(help="Seconds until a job has to be claimed; 0: the default.")
    ] = None,
    retention_seconds: Annotated[
        int | None, typer.Option(help="Seconds that results are kept after the end of a job; 0: the default.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Change limits of an org; those that are not named stay."""
    named = {"maxInFlight": in_flight, "maxPending": pending, "maxQueueSeconds": queue_seconds}
    named["retentionSeconds"] = retention_seconds
    limits = {name: limit for name, limit in named.items() if limit is not None}
    if not limits:
        fail("name a limit: --in-flight, --pending, --queue-seconds or --retention-seconds")
    _tell_org(_of_org("PATCH", path_of("orgs", org_id), limits), as_json=as_json)


@workflow_app.command("pause")
def pause_workflow(workflow_id: WorkflowId, org: Org = "", as_json: Json = False) -> None:
    """Let no job of a workflow start; what runs goes on."""
    _tell_workflow(_of_workflow(workflow_id, "pause", org), as_json=as_json)


@workflow_app.command("resume")
def resume_workflow(workflow_id: WorkflowId, org: Org = "", as_json: Json = False) -> None:
    """Let jobs of a workflow start again, each from its place."""
    _tell_workflow(_of_workflow(workflow_id, "resume", org), as_json=as_json)


def _of_org(method: str, path: str, body: dict[str, int] | None) -> "OrgAnswer":
    from api.config_answers import Org as OrgAnswer
    from services.cli.client import PROMPT_SECONDS, Client
    from services.localstack.attach import api_url, operator_key

    with told():
        base_url, key = api_url(os.environ), operator_key(os.environ)

    async def ask() -> "OrgAnswer":
        async with Client(base_url, key, within_seconds=PROMPT_SECONDS) as client:
            return await client.call(method, path, OrgAnswer, body)

    return run(ask())


def _of_workflow(workflow_id: str, verb: str, org: str) -> "WorkflowPause":
    from api.config_answers import WorkflowPause
    from services.cli.access import access
    from services.cli.client import PROMPT_SECONDS, Client

    with told():
        found = access(os.environ, org)

    async def ask() -> "WorkflowPause":
        async with Client(found.base_url, found.key, within_seconds=PROMPT_SECONDS) as client:
            return await client.call("POST", path_of("workflows", workflow_id, verb), WorkflowPause)

    return run(ask())


def _tell_org(org: "OrgAnswer", *, as_json: bool) -> None:
    if as_json:
        print_json(org)
        return
    pending = f"{org.max_pending:,} pending" if org.max_pending else "pending as the ledger is set"
    seconds = (
        f"{org.max_queue_seconds} s in the queue" if org.max_queue_seconds else "in the queue as the ledger is set"
    )
    paused = f"paused since {org.paused_at}" if org.paused_at else "not paused"
    kept = f"{org.retention_seconds} s" if org.retention_seconds else "as long as the ledger is set"
    typer.echo(
        f"{org.org_id}: {paused}; at most {org.max_in_flight} in flight, {pending}, {seconds}; results are kept {kept}"
    )


def _tell_workflow(workflow: "WorkflowPause", *, as_json: bool) -> None:
    if as_json:
        print_json(workflow)
        return
    typer.echo(f"{workflow.workflow_id}: {'paused, what runs goes on' if workflow.paused else 'not paused'}")
