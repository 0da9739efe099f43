"""`jobledger up | down | status | logs | doctor`: the local stack from the command line."""

import json
import os
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli.terminal import Json, fail, steps, told

if TYPE_CHECKING:
    from services.cli.lags import ReaderLag
    from services.localstack.state import StackState
    from services.localstack.status import ProcessStatus

app = typer.Typer()
FOLLOW_SECONDS = 0.2
WHY_FRESH = "this broker cannot continue after; with Apache Kafka nothing is lost (see `jobledger doctor`)"


@app.command()
def up(
    as_json: Json = False,
    foreground: Annotated[bool, typer.Option(help="Stay and show each step; stop everything on Ctrl-C.")] = False,
) -> None:
    """Start broker, Postgres, registry and services on this machine, and wait until they are ready."""
    from services.localstack.control import up as start
    from services.localstack.places import stack_directory

    with told():
        if foreground:
            _run_in_foreground(as_json)
            return
        with steps() as show:
            state = start(stack_directory(os.environ), os.environ, lambda state: show(state.step))
    _print_endpoints(state, as_json)


@app.command()
def down(as_json: Json = False) -> None:
    """Stop everything that `up` started; data is kept."""
    from services.localstack.control import down as stop
    from services.localstack.places import stack_directory
    from services.localstack.state import read_state

    directory = stack_directory(os.environ)
    was_running = read_state(directory.state) is not None
    with steps() as show:
        if was_running:
            show("stopping")
        killed = stop(directory)
    if as_json:
        typer.echo(json.dumps({"stopped": was_running, "killed": [identity.pid for identity in killed]}))
    elif not was_running:
        typer.echo(f"nothing runs in {directory.root}")
    else:
        late = f"; had to kill {', '.join(str(identity.pid) for identity in killed)}" if killed else ""
        typer.echo(f"stopped{late}")


@app.command()
def status(as_json: Json = False) -> None:
    """Show each process: is it ready, since when does it run, how often was it restarted, how far behind is it."""
    from msgspec import to_builtins

    from services.cli.lags import lags_of
    from services.localstack.places import stack_directory
    from services.localstack.state import read_state
    from services.localstack.status import look
    from services.runtime.settings import settings_from

    state = read_state(stack_directory(os.environ).state)
    if state is None:
        if as_json:
            typer.echo(json.dumps({"phase": "down", "processes": []}))
        else:
            typer.echo("nothing runs here: start it with `jobledger up`")
        raise typer.Exit(1)
    found = look(state)
    lags = lags_of(settings_from(state.environ), found) if state.environ else []
    phase = state.phase if state.runs() else "supervisor lost"
    if as_json:
        kept = ("step", "broker", "ephemeral", "fresh_starts")
        summary = {"phase": phase, **{name: getattr(state, name) for name in kept}}
        shown = {"processes": [asdict(process) for process in found], "readers": to_builtins(lags)}
        typer.echo(json.dumps({**summary, **shown}))
    else:
        _print_state(state, phase)
        _print_processes(found)
        _print_readers(lags)
        _print_reasons(found)
    if phase != "ready" or any(process.state != "ready" for process in found):
        raise typer.Exit(1)


@app.command()
def logs(
    service: Annotated[
        str, typer.Argument(help="One process, as `status` names it, or `supervisor`; default: all.")
    ] = "",
    follow: Annotated[bool, typer.Option("-f", "--follow", help="Go on as lines are written.")] = False,
    lines: Annotated[int, typer.Option("-n", help="How many of the last lines of each.")] = 50,
    as_json: Json = False,
) -> None:
    """Print what the processes wrote."""
    from services.localstack.places import stack_directory

    directory = stack_directory(os.environ)
    files = [directory.log(service)] if service else sorted(directory.logs.glob("*.log"))
    if not files or not files[0].exists():
        known = ", ".join(sorted(file.stem for file in directory.logs.glob("*.log"))) or "none yet"
        fail(f"no such log in {directory.logs}; there are: {known}")
    ends = {}
    for file in files:
        written = file.read_text(errors="replace")
        ends[file] = file.stat().st_size
        for line in written.splitlines()[-lines:]:
            _print_line(file.stem, line, as_json, alone=len(files) == 1)
    while follow:
        time.sleep(FOLLOW_SECONDS)
        for file in files:
            for line in _new_lines(file, ends):
                _print_line(file.stem, line, as_json, alone=len(files) == 1)


@app.command()
def doctor(as_json: Json = False) -> None:
    """Check what the stack needs of this machine, and say what to do about each thing that is missing."""
    from services.localstack.doctor import examine
    from services.localstack.places import stack_directory

    findings = list(examine(stack_directory(os.environ), os.environ))
    if as_json:
        typer.echo(json.dumps([asdict(finding) for finding in findings]))
    else:
        for finding in findings:
            advice = "" if finding.fine else f": {finding.advice}"
            typer.echo(f"{'ok  ' if finding.fine else 'FAIL'} {finding.what:<14} {finding.found}{advice}")
    if not all(finding.fine for finding in findings):
        raise typer.Exit(1)


def _run_in_foreground(as_json: bool) -> None:
    from services.localstack.control import down as clear
    from services.localstack.places import stack_directory
    from services.localstack.services import services_of
    from services.localstack.state import read_state
    from services.localstack.supervisor import Supervisor

    directory = stack_directory(os.environ)
    state = read_state(directory.state)
    if state is not None and not state.runs():
        clear(directory)

    def show(step: str) -> None:
        typer.echo(step, err=True)
        now = read_state(directory.state)
        if step == "ready" and now is not None:
            _print_endpoints(now, as_json)

    Supervisor(directory, os.environ, services_of(os.environ), tell=show).run()


def _print_endpoints(state: "StackState", as_json: bool) -> None:
    if as_json:
        endpoints = {process.name: process.endpoint for process in state.processes}
        typer.echo(json.dumps({"broker": state.broker, "ephemeral": state.ephemeral, "endpoints": endpoints}))
        return
    typer.echo(f"broker: {state.broker}")
    _print_table(("", "endpoint"), [(process.name, process.endpoint) for process in state.processes])


def _print_table(columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    widths = [max(len(row[number]) for row in (columns, *rows)) for number in range(len(columns))]
    for row in (columns, *rows):
        typer.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _print_state(state: "StackState", phase: str) -> None:
    typer.echo(f"{phase} · broker: {state.broker}")
    if state.fresh_starts:
        typer.echo(f"all data was lost {state.fresh_starts} times since `up`: a process died that {WHY_FRESH}")


def _print_processes(found: "Sequence[ProcessStatus]") -> None:
    rows = [
        (each.name, each.state, str(each.pid or "-"), _duration(each.uptime_seconds), str(each.restarts), each.endpoint)
        for each in found
    ]
    _print_table(("", "state", "pid", "uptime", "restarts", "endpoint"), rows)


def _print_reasons(found: "Sequence[ProcessStatus]") -> None:
    for process in found:
        if process.reason:
            typer.echo(f"{process.name} is not ready: {process.reason}")


def _print_readers(readers: "Sequence[ReaderLag]") -> None:
    """How far each reader is behind, and in which partition most."""
    rows = []
    for reader in readers:
        worst = max(reader.places, key=lambda place: place.lag, default=None)
        where = f"partition {worst.partition}: {worst.at} of {worst.head}" if worst and worst.lag else ""
        behind = f"{reader.lag} {reader.unit}" if reader.lag is not None else f"unknown: {reader.reason}"
        rows.append((reader.process, reader.reads, behind, where if reader.lag is None else reader.reason or where))
    if rows:
        typer.echo("")
        _print_table(("", "reads", "behind", "most of it"), rows)


def _new_lines(file: Path, ends: dict[Path, int]) -> list[str]:
    """The lines written since the last look; from the beginning where the log was rotated."""
    size = file.stat().st_size
    start = ends[file] if size >= ends[file] else 0
    with file.open("rb") as log:
        log.seek(start)
        content = log.read(size - start)
    whole = content[: content.rfind(b"\n") + 1]
    ends[file] = start + len(whole)
    return whole.decode(errors="replace").splitlines()


def _print_line(service: str, line: str, as_json: bool, alone: bool) -> None:
    if as_json:
        typer.echo(json.dumps({"service": service, "line": line}))
    else:
        typer.echo(line if alone else f"{service:<12} {line}")


def _duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h{minutes:02}m" if hours else f"{minutes}m{rest:02}s" if minutes else f"{rest}s"
