"""What the verbs have in common on a terminal: how they print, and how they end when something is wrong."""

import asyncio
import shutil
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TypeVar

import typer

if TYPE_CHECKING:
    from rich.console import RenderableType

PIPED_WIDTH = 160
T = TypeVar("T")
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Org = Annotated[str, typer.Option("--org", help="Which org of the local stack calls; default: the newest one.")]


@contextmanager
def told() -> Iterator[None]:
    """End the command with one line on stderr and exit code 1 where what it needs is missing or refused."""
    from services.cli.errors import CliFault
    from services.localstack.errors import StackFault
    from services.runtime.errors import RuntimeFault

    try:
        yield
    except (CliFault, StackFault, RuntimeFault) as fault:
        fail(str(fault))


def run(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end; faults are told as `told` does."""
    with told():
        return asyncio.run(main)


def fail(message: str) -> NoReturn:
    """End the command with a message on stderr."""
    typer.echo(message, err=True)
    raise typer.Exit(1)


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
