"""`jobledger topics plan | apply`: the topics of the ledger as they are, held against what the settings ask for."""

import os
from typing import TYPE_CHECKING

import typer

from services.cli.terminal import Json, print_json, show, told

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.runtime.topic_plan import Difference

app = typer.Typer()
group = typer.Typer(
    help="Topics: show how they differ from the settings, and change what can be.", no_args_is_help=True
)
app.add_typer(group, name="topics")


@group.command()
def plan(as_json: Json = False) -> None:
    """Show how the topics differ from what the settings ask for, and change nothing. Exit code 1: they do."""
    from services.localstack.attach import attached_settings
    from services.runtime.topic_plan import plan as planned

    with told():
        different = planned(attached_settings(os.environ))
    _print(different, as_json, "topics are as the settings ask")
    if different:
        raise typer.Exit(1)


@group.command()
def apply(as_json: Json = False) -> None:
    """Create missing topics and alter the others, as `plan` says. Exit code 1: something has to be left as it is."""
    from services.localstack.attach import attached_settings
    from services.runtime.topic_plan import apply as change
    from services.runtime.topic_plan import plan as planned

    with told():
        settings = attached_settings(os.environ)
        different = planned(settings)
        change(settings, different)
    _print(different, as_json, "nothing to do: topics are as the settings ask")
    if any(each.how == "refuse" for each in different):
        raise typer.Exit(1)


def _print(different: "Sequence[Difference]", as_json: bool, none: str) -> None:
    from msgspec import to_builtins

    if as_json:
        print_json({"differences": to_builtins(different)})
        return
    if not different:
        typer.echo(none)
        return
    from rich.table import Table

    table = Table("topic", "what", "is", "asked for", "")
    for each in different:
        table.add_row(each.topic, each.what, each.found, each.wanted, each.how)
    show(table)
    for advice in dict.fromkeys(each.advice for each in different if each.advice):
        typer.echo(f"refused: {advice}")
