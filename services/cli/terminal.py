"""What the verbs have in common on a terminal: how they print, and how they end when something is wrong."""

import asyncio
import os
import re
import shutil
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TypeVar

import typer

if TYPE_CHECKING:
    from rich.console import RenderableType

    from services.cli.client import Client

PIPED_WIDTH = 160
T = TypeVar("T")
_as_json: ContextVar[bool] = ContextVar("whether this command was asked for JSON", default=False)


def _noted(context: typer.Context, asked: bool) -> bool:
    before = _as_json.set(asked)
    context.call_on_close(lambda: _as_json.reset(before))
    return asked


Json = Annotated[
    bool, typer.Option("--json", callback=_noted, is_eager=True, help="Print JSON instead of text, errors too.")
]
Org = Annotated[str, typer.Option("--org", help="Which org of the local stack calls; default: the newest one.")]


@contextmanager
def told() -> Iterator[None]:
    """End the command as `fail` does where what it needs is missing or refused."""
    from services.cli.errors import CliFault
    from services.localstack.errors import StackFault
    from services.runtime.errors import RuntimeFault

    try:
        yield
    except (CliFault, StackFault, RuntimeFault) as fault:
        fail(str(fault), getattr(fault, "code", type(fault).__name__))


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end; faults are told as `told` does."""
    with told():
        return asyncio.run(main)


def caller_of(org: str, within_seconds: float | None = None) -> "Client":
    """Return who calls the API: the key of the environment, or that of an org of the local stack.

    `within_seconds`: then each call is given up, also one under way.
    """
    from services.cli.access import access
    from services.cli.client import Client

    with told():
        found = access(os.environ, org)
    return Client(found.base_url, found.key, within_seconds=within_seconds)


def fail(message: str, code: str = "unusable", exit_code: int = 1) -> NoReturn:
    """End the command with a message on stderr, and with --json a problem as the API's on stdout, code and message."""
    if _as_json.get():
        print_json({"error": _snake(code), "message": message})
    typer.echo(message, err=True)
    raise typer.Exit(exit_code)


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def print_json(value: object) -> None:
    """Print a value as one line of JSON."""
    import msgspec

    typer.echo(msgspec.json.encode(value).decode())


def show(*parts: "RenderableType") -> None:
    """Print tables, trees and text, as wide as the terminal, or PIPED_WIDTH columns where there is none."""
    from rich.console import Console

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = PIPED_WIDTH
    for part in parts:
        console.print(part)


@contextmanager
def steps() -> Iterator[Callable[[str], None]]:
    """Show the current step of something long on stderr: a spinner on a terminal, a line for each elsewhere."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda step: typer.echo(step, err=True)
        return
    with console.status("starting") as spinner:
        yield spinner.update


def program() -> str:
    """Return what to type for this program from here: its name, or its path where the shell would not find it."""
    called = Path(sys.argv[0]).absolute()
    if shutil.which(called.name) == str(called) or not called.is_relative_to(Path.cwd()):
        return "jobledger"
    return str(called.relative_to(Path.cwd()))
