"""`jobledger demo`: the local stack at work on pages good and bad, and a verdict."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli.terminal import Json, fail, print_json, program, run, show, steps, told

if TYPE_CHECKING:
    from services.cli.demo_check import Summary
    from services.cli.demo_processes import Before
    from services.cli.demo_session import Place, Progress, Session

app = typer.Typer(add_completion=False)
FEWEST_JOBS = 13  # one of each kind of page
DEADLINE_SECONDS = 55.0  # from the first submission on, for every job to end


@app.command()
def demo(
    jobs: Annotated[int, typer.Option(min=FEWEST_JOBS, max=10_000, help="How many jobs.")] = 300,
    urls: Annotated[
        Path | None,
        typer.Option(metavar="FILE", exists=True, dir_okay=False, help="Fetch these urls, one a line, instead."),
    ] = None,
    deadline: Annotated[float, typer.Option(help="Seconds within which every job must have ended.")] = DEADLINE_SECONDS,
    picture: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            dir_okay=False,
            help="Where to draw the run, as PNG; default: demo/ in the stack's directory.",
        ),
    ] = None,
    stop: Annotated[bool, typer.Option("--stop", help="Stop the stack at the end.")] = False,
    as_json: Json = False,
) -> None:
    """Run jobs over good and bad pages and check their ends.

    Starts the local stack unless it runs, registers three orgs, lets a destination of one of them be down for 10 s,
    and leaves the stack running unless --stop is given. Exit code 1 says that something is not as it should be.
    """
    own = _lines(urls) if urls else []
    began = _before()
    with told():
        _start_stack()
    try:
        place = _place(deadline, as_json)
        session = _run(place, own, jobs)
        summary = _finished(session, place.base_url, began, picture)
        _tell(session, summary, as_json)
    finally:
        if stop:
            _stop_stack()
    if not stop and not as_json:
        _tell_what_next(session, summary)
    if not summary.ok:
        raise typer.Exit(1)


def _before() -> "Before":
    from services.cli.demo_processes import before
    from services.localstack.places import stack_directory

    return before(stack_directory(os.environ).state)


def _run(place: "Place", own: list[str], jobs: int) -> "Session":
    from services.cli.demo_session import run_pages, run_urls

    return run(run_urls(place, own) if own else run_pages(place, jobs))


def _finished(session: "Session", base_url: str, began: "Before", picture: Path | None) -> "Summary":
    from services.cli.demo_finish import finished
    from services.localstack.places import stack_directory

    with told():
        return finished(session, base_url, stack_directory(os.environ), os.environ, began, picture)


def _tell(session: "Session", summary: "Summary", as_json: bool) -> None:
    from services.cli.demo_show import summary_parts, url_parts

    jobs = [outcome.job for outcome in session.outcomes]
    if as_json:
        print_json(summary if summary.kinds else {"summary": summary, "jobs": jobs})
    elif summary.kinds:
        show(*summary_parts(summary, jobs))
    else:
        show(*url_parts(summary, session.outcomes))


def _tell_what_next(session: "Session", summary: "Summary") -> None:
    from services.cli.demo_show import calls

    typer.echo("\nGo on with:")
    for line in summary.look_next:
        typer.echo(f"  {line}")
    typer.echo("or, with the key of this demo's own org:")
    for line in calls(session.orgs, summary):
        typer.echo(f"  {line}")
    typer.echo(f"\nThe stack goes on running. Stop it with: {program()} down")


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
