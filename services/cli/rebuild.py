"""`jobledger rebuild`: builds a read model anew from the log, beside the one in use, and switches to it."""

import asyncio
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from services.cli.stores import UNUSABLE, stores_told
from services.cli.terminal import Json, fail, print_json

if TYPE_CHECKING:
    from projections.rebuild.building import Progress
    from projections.rebuild.outcome import Rebuilt
    from projections.rebuild.rebuilding import Rebuild
    from services.runtime.settings import Settings

app = typer.Typer()
group = typer.Typer(
    help="Build a read model anew from the log beside the one in use, compare the two, and switch.",
    no_args_is_help=True,
)
app.add_typer(group, name="rebuild")
DIFFERS = 1  # exit code
SHOWN = 50  # faults printed as text; --json prints all
Until = Annotated[
    str,
    typer.Option(
        "--until",
        help="Build as of these positions, PARTITION:POSITION[,...], to look at: no switch.",
        metavar="POSITION",
    ),
]
Accept = Annotated[bool, typer.Option("--accept-differences", help="Switch although the version in use differs.")]
DropOld = Annotated[bool, typer.Option("--drop-old", help="Drop the version that was replaced after the switch.")]
Anew = Annotated[bool, typer.Option("--anew", help="Drop what a rebuild has left unfinished instead of going on.")]


@group.command()
def postgres(
    until: Until = "", accept: Accept = False, drop_old: DropOld = False, anew: Anew = False, as_json: Json = False
) -> None:
    """Rebuild the read model in Postgres under live traffic."""
    _rebuild("postgres", until, as_json, anew=anew, accept_differences=accept, drop_old=drop_old)


@group.command()
def clickhouse(
    until: Until = "", accept: Accept = False, drop_old: DropOld = False, anew: Anew = False, as_json: Json = False
) -> None:
    """Rebuild the read model in ClickHouse under live traffic."""
    _rebuild("clickhouse", until, as_json, anew=anew, accept_differences=accept, drop_old=drop_old)


@group.command("drop-old")
def drop_old(
    read_model: Annotated[str, typer.Argument(help="postgres or clickhouse.", metavar="READ_MODEL")],
    as_json: Json = False,
) -> None:
    """Drop the versions that rebuilds have replaced, and the one that was built to look at."""
    if read_model not in ("postgres", "clickhouse"):
        fail(f"there is no read model {read_model}: give postgres or clickhouse", "no_such_read_model", UNUSABLE)
    names = _run(read_model, lambda rebuild: rebuild.drop_old())
    if as_json:
        print_json({"dropped": names})
        return
    typer.echo(f"dropped {', '.join(names)}" if names else "no version of before is left")


def _rebuild(read_model: str, until: str, as_json: bool, **options: bool) -> None:
    from projections.rebuild.outcome import positions_of

    if until:
        try:
            wanted = positions_of(until)
        except ValueError as error:
            fail(f"--until: {error}", "bad_position", UNUSABLE)
        rebuilt = _run(read_model, lambda rebuild: rebuild.until(wanted))
    else:
        rebuilt = _run(read_model, lambda rebuild: rebuild.rebuild(**options))
    if as_json:
        print_json(rebuilt)
    else:
        _print(rebuilt, until)
    if rebuilt.difference and not rebuilt.switched:
        raise typer.Exit(DIFFERS)


def _print(rebuilt: "Rebuilt", until: str) -> None:
    at = ", ".join(f"{partition}:{position}" for partition, position in sorted(rebuilt.positions.items()))
    typer.echo(f"built {rebuilt.version} up to {at}: {rebuilt.rows} rows, digest {rebuilt.digest}")
    for bucket, faults in rebuilt.difference.buckets.items():
        typer.echo(f"differs: {bucket}")
        for fault in faults[:SHOWN]:
            typer.echo(f"  {fault}")
    if rebuilt.difference.unread:
        typer.echo(f"differs: {len(rebuilt.difference.unread)} more (--json names all)")
    if rebuilt.switched:
        typer.echo(f"readers follow {rebuilt.version}; of before there is {rebuilt.replaced}")
    elif until:
        typer.echo("it is there to look at; readers follow the version of before")
    else:
        typer.echo("no switch: expected is what the log says, found what is in use. If that is what has to be mended,")
        typer.echo("run it again with --accept-differences")


def _run(read_model: str, what: "Callable[[Rebuild], Any]") -> Any:
    """Run a rebuild in a thread, with its metrics served meanwhile; SIGINT and SIGTERM stop it between two batches."""
    from projections.rebuild.building import Progress
    from services.localstack.attach import attached_settings

    with stores_told(then=": nothing was switched, run it again to go on"):
        settings = attached_settings(os.environ)
        progress = Progress(read_model, lambda line: typer.echo(line, err=True))
        return asyncio.run(_served(settings, progress, what))


async def _served(settings: "Settings", progress: "Progress", what: "Callable[[Rebuild], Any]") -> Any:
    import signal

    from projections.rebuild.rebuilding import rebuild_of
    from services.runtime.health import Health
    from services.runtime.health_server import serve

    health = Health("rebuild")
    server = await serve(settings, health)
    try:
        progress.tell(f"progress: http://{settings.host}:{server.port}/metrics, jobledger_rebuild_events_left")
        for number in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(number, progress.stop.set)
        return await asyncio.to_thread(lambda: what(rebuild_of(settings, progress)))
    finally:
        await server.close()
