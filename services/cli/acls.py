"""`jobledger acls`: what each service may do on the brokers, to be given to its principal there."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from services.cli.terminal import Json, fail, print_json, show

if TYPE_CHECKING:
    from services.runtime.acls import Acl

app = typer.Typer()
TOOL = 'kafka-acls.sh --bootstrap-server "$KAFKA" --command-config admin.properties --add'


@app.command()
def acls(
    services: Annotated[list[str] | None, typer.Argument(help="Services; default: all.", metavar="SERVICE...")] = None,
    prefix: Annotated[
        str, typer.Option(envvar="JOBLEDGER_TOPIC_PREFIX", help="What the names of topics begin with.")
    ] = "jobledger",
    principal: Annotated[
        str, typer.Option(help="Who a service is on the brokers, {service} standing for its name.")
    ] = "User:jobledger-{service}",
    commands: Annotated[bool, typer.Option("--commands", help="Print lines of kafka-acls.sh instead.")] = False,
    as_json: Json = False,
) -> None:
    """Print what each service may do on the brokers, no more than it needs. Nothing is asked of a broker."""
    from msgspec import to_builtins

    from services.runtime.acls import acls as of_services
    from services.runtime.settings import Settings

    every = of_services(Settings(kafka="", postgres="", registry="", blobs="", topic_prefix=prefix))
    if unknown := [each for each in services or () if each not in every]:
        fail(f"no such service: {', '.join(unknown)}; there are {', '.join(every)}", "unknown_service", 2)
    chosen = {name: every[name] for name in services or every}
    said = {name: principal.replace("{service}", name) for name in chosen}
    if as_json:
        print_json({name: {"principal": said[name], "acls": to_builtins(given)} for name, given in chosen.items()})
    elif commands:
        for name, given in chosen.items():
            for line in lines(said[name], given):
                typer.echo(line)
    else:
        from rich.table import Table

        table = Table("service", "principal", "resource", "name", "operations")
        for name, given in chosen.items():
            for resource, called, operations in _together(given):
                table.add_row(name, said[name], resource, called, ", ".join(operations))
        show(table)


def lines(principal: str, given: "Sequence[Acl]") -> Iterator[str]:
    """Yield a line for each resource that gives a principal its rights there with Kafka's own tool."""
    for (resource, name, prefixed), some in groupby(given, lambda acl: (acl.resource, acl.name, acl.prefixed)):
        operations = " ".join(f"--operation {acl.operation.title().replace('_', '')}" for acl in some)
        pattern = " --resource-pattern-type prefixed" if prefixed else ""
        yield f"{TOOL} --allow-principal {quote(principal)} {operations} --{resource} {quote(name)}{pattern}"


def _together(given: "Sequence[Acl]") -> Iterator[tuple[str, str, list[str]]]:
    for (resource, name, prefixed), some in groupby(given, lambda acl: (acl.resource, acl.name, acl.prefixed)):
        yield resource, f"{name}*" if prefixed else name, [acl.operation for acl in some]
