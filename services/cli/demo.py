"""`jobledger demo`: the local stack at work on pages good and bad, and a verdict."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli.terminal import Json, fail, print_json, program, run, show, steps, told

if TYPE_CHECKING:
    from services.cli.demo_check import Summary
    from services.cli.demo_session import Place, Progress, Session

app = typer.Typer()
DEADLINE_SECONDS = 55.0  # from the first submission on, for every job to end


@app.command()
def demo(
    jobs: Annotated[int, typer.Option(min=8, max=10_000, help="How many jobs.")] = 120,
    urls: Annotated[
        Path | None,
        typer.Option(metavar="FILE", exists=True, dir_okay=False, help="Fetch these urls, one a line, instead."),
    ] = None,
    deadline: Annotated[float, typer.Option(help="Seconds within which every job must have ended.")] = DEADLINE_SECONDS,
    stop: Annotated[bool, typer.Option("--stop", help="Stop the stack at the end.")] = False,
    as_json: Json = False,
) -> None:
    """Run jobs over good and bad pages and check their ends.

    Starts the local stack unless it runs, registers three orgs, and leaves the stack running unless --stop is given.
    Exit code 1 says that something is not as it should be.
    """
    own = _lines(urls) if urls else []
    with told():
        _start_stack()
    try:
        place = _place(deadline, as_json)
        ok = _run_own(place, own, as_json) if own else _run_pages(place, jobs, as_json)
    finally:
        if stop:
            _stop_stack()
    if not stop and not as_json:
        typer.echo(f"\nThe stack goes on running. Stop it with: {program()} down")
    if not ok:
        raise typer.Exit(1)


def _run_pages(place: "Place", jobs: int, as_json: bool) -> bool:
    from services.cli.demo_session import run_pages
    from services.cli.demo_show import go_on, summary_parts

    session = run(run_pages(place, jobs))
    summary = _summary(session)
    if as_json:
        print_json(summary)
        return summary.ok
    show(*summary_parts(summary, [outcome.job for outcome in session.outcomes]))
    shown = next((outcome for outcome in session.outcomes if outcome.readable), session.outcomes[0])
    org = next(org for org in session.orgs if org.org_id == shown.job.org_id)
    typer.echo("\nGo on with (the key is that of this demo's own org):")
    for line in go_on(place.base_url, org, shown.job.job_id):
        typer.echo(f"  {line}")
    return summary.ok


def _run_own(place: "Place", urls: list[str], as_json: bool) -> bool:
    from services.cli.demo_session import run_urls
    from services.cli.demo_show import astray_parts, figures, url_table

    session = run(run_urls(place, urls))
    summary = _summary(session)
    jobs = [outcome.job for outcome in session.outcomes]
    if as_json:
        print_json({"summary": summary, "jobs": jobs})
        return summary.ok
    show(url_table(session.outcomes), "", *figures(summary))
    if summary.astray:
        show("", *astray_parts(summary, {job.job_id: job for job in jobs}))
    return summary.ok


def _summary(session: "Session") -> "Summary":
    from projections.verify import verify
    from services.cli.demo_check import summary_of
    from services.localstack.attach import attached_settings

    with told():
        settings = attached_settings(os.environ)
        report = verify(settings)
    return summary_of(session.outcomes, report, broker=settings.broker, seconds=session.seconds)


def _place(deadline: float, as_json: bool) -> "Place":
    from services.cli.demo_session import Place
    from services.cli.kept_keys import OrgKey, keep
    from services.localstack.attach import api_url, operator_key
    from services.localstack.places import stack_directory

    directory = stack_directory(os.environ)

    def kept(org: OrgKey) -> None:
        keep(directory, org)

    with told():
        return Place(api_url(os.environ), operator_key(os.environ), deadline, _progress(as_json), kept)


def _progress(as_json: bool) -> "Progress":
    import sys

    from services.cli.demo_progress import live_table, plain_lines, silence

    if as_json:
        return silence
    return live_table if sys.stderr.isatty() else plain_lines


def _start_stack() -> None:
    """Start the local stack unless it runs, or unless JOBLEDGER_API names another one."""
    from services.localstack.control import up
    from services.localstack.places import stack_directory

    if os.environ.get("JOBLEDGER_API"):
        return
    with steps() as tell:
        state = up(stack_directory(os.environ), os.environ, lambda state: tell(state.step))
        tell(f"broker: {state.broker}")


def _stop_stack() -> None:
    from services.localstack.control import down
    from services.localstack.places import stack_directory

    with steps() as tell:
        tell("stopping the stack")
        down(stack_directory(os.environ))


def _lines(file: Path) -> list[str]:
    urls = [line.strip() for line in file.read_text().splitlines() if line.strip() and not line.startswith("#")]
    if not urls:
        fail(f"{file} holds no url: write one a line")
    return urls
