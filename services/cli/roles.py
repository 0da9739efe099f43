"""`jobledger roles postgres | clickhouse`: SQL that makes a role for each service, with no more rights than it uses."""

from collections.abc import Collection
from typing import Annotated

import typer

from services.cli.terminal import Json, fail, print_json

app = typer.Typer()
group = typer.Typer(help="SQL for a role of each service, with the rights that it uses.", no_args_is_help=True)
app.add_typer(group, name="roles")
Services = Annotated[list[str] | None, typer.Argument(help="Services; default: all.", metavar="SERVICE...")]
Role = Annotated[str, typer.Option("--role", help="Name of a role, {service} standing for the service's, - as _.")]
DEFAULT_ROLE = "jobledger_{service}"


@group.command()
def postgres(services: Services = None, role: Role = DEFAULT_ROLE, as_json: Json = False) -> None:
    """Print SQL for the owner of the ledger's database: after each migration, before services of that version start.

    Roles are made where they are missing, able to log in and without a password. Nothing is asked of Postgres.
    """
    from services.cli.postgres_roles import SERVICES, statements

    _print(list(statements(_chosen(services, SERVICES), role)), as_json)


@group.command()
def clickhouse(
    services: Services = None,
    database: Annotated[str, typer.Option(help="The database that JOBLEDGER_CLICKHOUSE names.")] = "jobledger",
    role: Role = DEFAULT_ROLE,
    as_json: Json = False,
) -> None:
    """Print SQL for who manages access in ClickHouse and gives the roles to users. Nothing is asked of it here."""
    from services.cli.clickhouse_roles import SERVICES, statements

    _print(list(statements(_chosen(services, SERVICES), role, database)), as_json)


def _chosen(services: list[str] | None, known: Collection[str]) -> list[str]:
    chosen = services or list(known)
    if unknown := [each for each in chosen if each not in known]:
        fail(f"no such service: {', '.join(unknown)}; there are {', '.join(known)}", "unknown_service", 2)
    return chosen


def _print(found: list[str], as_json: bool) -> None:
    if as_json:
        print_json({"statements": found})
    else:
        typer.echo("\n".join(found))
