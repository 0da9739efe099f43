"""`jobledger dead-letters list | show | redrive`: records that could not be used, and back to where they came from."""

import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from services.cli.terminal import Json, fail, print_json, run, show, told

if TYPE_CHECKING:
    from services.runtime.dead_letter_topic import Parked
    from services.runtime.settings import Settings

app = typer.Typer()
group = typer.Typer(help="Records that could not be used: list them, look at one, put them back.", no_args_is_help=True)
app.add_typer(group, name="dead-letters")
SHOWN_BYTES = 512  # of a value
Number = Annotated[int, typer.Argument(min=0, help="Number of the dead letter.", metavar="NUMBER")]


@group.command("list")
def page(
    reason: Annotated[str, typer.Option(help="Only those parked for this reason.")] = "",
    topic: Annotated[str, typer.Option(help="Only those of topics whose name ends so, for example commands.")] = "",
    waiting: Annotated[bool, typer.Option("--waiting", help="Only those that were not redriven.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="How many of the newest at most.")] = 50,
    as_json: Json = False,
) -> None:
    """List dead letters, the newest last."""
    _, found = _letters()
    fitting = [
        letter
        for letter in found.values()
        if reason in ("", letter.reason) and letter.topic.endswith(topic) and not (waiting and letter.redriven)
    ]
    newest = fitting[-limit:]
    if as_json:
        print_json({"letters": [_summary(letter) for letter in newest], "total": len(fitting)})
        return
    from rich.table import Table
    from rich.text import Text

    table = Table("number", "parked", "reason", "topic", "partition:offset", "bytes", "redriven")
    for letter in newest:
        place = f"{letter.partition}:{letter.offset}"
        redriven = _moment(letter.redriven[-1]) if letter.redriven else ""
        said = _summary(letter)
        row = (letter.number, said["parkedAt"], said["reason"], said["topic"], place, letter.size, redriven)
        table.add_row(*(Text(str(cell)) for cell in row))  # what it says is no markup
    show(table)
    typer.echo(f"{len(newest)} of {len(fitting)} dead letters", err=True)


@group.command("show")
def one(number: Number, as_json: Json = False) -> None:
    """Show a dead letter: why it was parked, where it came from, and how its value begins."""
    _, found = _letters()
    letter = _of(found, number)
    shown = _summary(letter) | {
        "detail": _printable(letter.detail),
        "key": _printable(letter.key),
        "value": _beginning(letter.value),
    }
    if as_json:
        print_json(shown)
        return
    for name, value in shown.items():
        typer.echo(f"{name:<10} {value}")


@group.command()
def redrive(
    numbers: Annotated[list[int], typer.Argument(min=0, help="Numbers of dead letters.", metavar="NUMBER...")],
    again: Annotated[bool, typer.Option("--again", help="Also those that were redriven before.")] = False,
    as_json: Json = False,
) -> None:
    """Put records back on the partitions they came from, each once: the cause has to be cured first.

    Exit code 1 says that not every one could be put back.
    """
    settings, found = _letters()
    chosen = [_of(found, number) for number in dict.fromkeys(numbers)]
    refused = run(_redriven(settings, chosen, again=again))
    if as_json:
        done = [letter.number for letter in chosen if letter.number not in refused]
        print_json({"redriven": done, "refused": {str(number): why for number, why in refused.items()}})
    else:
        for letter in chosen:
            place = f"{letter.topic}, partition {letter.partition}"
            typer.echo(refused.get(letter.number) or f"dead letter {letter.number} is back on {place}")
    if refused:
        raise typer.Exit(1)


async def _redriven(settings: "Settings", chosen: "list[Parked]", *, again: bool) -> dict[int, str]:
    """Put letters back; return those that could not be, with the reason."""
    from services.runtime.dead_letter_topic import CannotRedrive
    from services.runtime.dead_letter_topic import redrive as put_back
    from services.runtime.errors import RecordRefused
    from services.runtime.producer import Producer

    refused: dict[int, str] = {}
    producer = Producer(settings, "redrive")
    producer.start()
    try:
        for letter in chosen:
            try:
                await put_back(settings, producer, letter, again=again)
            except (CannotRedrive, RecordRefused) as fault:
                refused[letter.number] = str(fault)
    finally:
        producer.close()
    return refused


def _letters() -> "tuple[Settings, dict[int, Parked]]":
    from services.localstack.attach import attached_settings
    from services.runtime.dead_letter_topic import letters

    with told():
        settings = attached_settings(os.environ)
        return settings, letters(settings)


def _of(found: "dict[int, Parked]", number: int) -> "Parked":
    letter = found.get(number)
    if letter is None:
        fail(f"there is no dead letter {number}: `jobledger dead-letters list` names those there are")
    return letter


def _summary(letter: "Parked") -> dict[str, Any]:
    return {
        "number": letter.number,
        "parkedAt": _moment(letter.parked_ms),
        "reason": _printable(letter.reason),
        "topic": _printable(letter.topic),
        "partition": letter.partition,
        "offset": letter.offset,
        "bytes": letter.size,
        "sha256": letter.sha256,
        "whole": letter.whole,
        "redrivenAt": [_moment(at) for at in letter.redriven],
    }


def _moment(milliseconds: int) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _printable(text: str) -> str:
    """Return what anybody may have written without what a terminal would obey."""
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)


def _beginning(value: bytes) -> str:
    """Return how a value begins, what is no printable ASCII escaped."""
    return repr(value[:SHOWN_BYTES])[2:-1] + ("..." if len(value) > SHOWN_BYTES else "")
