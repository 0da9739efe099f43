"""`jobledger webhooks list | attempts | replay`: an org's webhook endpoints from the command line."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from services.cli.terminal import Json, Org, caller_of, print_json, run

if TYPE_CHECKING:
    from api.webhook_answers import Replay, WebhookAttempts, Webhooks

app = typer.Typer()
verbs = typer.Typer(help="Webhook endpoints of an org: how they are, what they answered.", no_args_is_help=True)
app.add_typer(verbs, name="webhooks")

Endpoint = Annotated[str, typer.Argument(help="Id of the endpoint.", metavar="WEBHOOK")]
Job = Annotated[str, typer.Option(help="Only messages about this job.")]


@verbs.command("list")
def every(org: Org = "", as_json: Json = False) -> None:
    """List the org's endpoints, and whether each is ok, throttled or disabled."""

    async def main() -> "Webhooks":
        async with caller_of(org) as client:
            return await client.webhooks()

    found = run(main())
    if as_json:
        print_json(found)
        return
    for each in found.webhooks:
        why = each.throttled_until or each.disabled_reason or ""
        typer.echo(f"{each.webhook_id}  {each.state:9}  {each.url}  {why}".rstrip())


@verbs.command()
def attempts(
    webhook_id: Endpoint,
    job: Job = "",
    limit: Annotated[int, typer.Option(min=1, max=500, help="How many at most.")] = 20,
    cursor: Annotated[str, typer.Option(help="Go on where the page before ended.")] = "",
    org: Org = "",
    as_json: Json = False,
) -> None:
    """List the newest calls to an endpoint, with what came of them."""

    async def main() -> "WebhookAttempts":
        async with caller_of(org) as client:
            return await client.webhook_attempts(webhook_id, job_id=job, cursor=cursor, limit=limit)

    found = run(main())
    if as_json:
        print_json(found)
        return
    for each in found.attempts:
        outcome = each.error_type or "delivered"
        typer.echo(f"{each.attempted_at}  {each.job_id}  {each.event_type}  {outcome}  {each.latency_ms} ms")
    if found.next_cursor:
        typer.echo(f"more: --cursor {found.next_cursor}", err=True)


@verbs.command()
def replay(
    webhook_id: Endpoint,
    since: Annotated[str, typer.Option(help="From then on, such as 2026-01-31T00:00:00Z.")] = "",
    until: Annotated[str, typer.Option(help="Before then; now, where it is left out.")] = "",
    everything: Annotated[bool, typer.Option("--all", help="Also what arrived, not only what failed.")] = False,
    job: Job = "",
    idempotency_key: Annotated[str, typer.Option(help="Repeat with the same key: nothing is sent twice.")] = "",
    org: Org = "",
    as_json: Json = False,
) -> None:
    """Send messages once more, page by page until there are no more, and print how many."""
    asked: dict[str, Any] = {"since": since, "until": until, "jobId": job, "only": "all" if everything else "failed"}

    async def main() -> "Replay":
        async with caller_of(org) as client:
            return await client.replay(
                webhook_id, {name: value for name, value in asked.items() if value}, idempotency_key=idempotency_key
            )

    done = run(main())
    if as_json:
        print_json(done)
        return
    skipped = "".join(f", {number} skipped: {code}" for code, number in done.skipped.items())
    typer.echo(f"{done.replayed} sent once more{skipped}")
