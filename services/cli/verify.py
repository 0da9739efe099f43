"""`jobledger verify`: compares the log with the read model, while traffic goes on."""

import json
import os
from typing import TYPE_CHECKING

import typer

from services.cli.terminal import Json

if TYPE_CHECKING:
    from projections.verification.faults import Report

app = typer.Typer()
SHOWN = 50  # faults printed as text; --json prints all
UNUSABLE = 2  # exit code where nothing could be compared


@app.command()
def verify(as_json: Json = False) -> None:
    """Compare log and read model row by row; exit 1 naming table, job and field where they differ."""
    import psycopg
    from clickhouse_connect.driver.exceptions import ClickHouseError

    from projections.verify import verify as compare
    from services.localstack.attach import attached_settings
    from services.localstack.errors import StackFault
    from services.runtime.errors import RuntimeFault

    try:
        report = compare(attached_settings(os.environ))
    except (StackFault, RuntimeFault, psycopg.OperationalError, ClickHouseError) as fault:
        typer.echo(f"cannot verify: {fault}", err=True)
        raise typer.Exit(UNUSABLE) from None
    print_report(report, as_json)
    if not report.ok:
        raise typer.Exit(1)


def print_report(report: "Report", as_json: bool) -> None:
    """Print a report for people, or as one JSON object."""
    if as_json:
        from msgspec import to_builtins

        typer.echo(json.dumps({"ok": report.ok, **to_builtins(report, str_keys=True)}))
        return
    rows = ", ".join(f"{number} in {table}" for table, number in report.rows.items())
    typer.echo(f"compared {report.events} events of {report.jobs} jobs in {len(report.positions)} partitions with")
    typer.echo(f"  {rows}")
    typer.echo(f"ClickHouse: {report.clickhouse}")
    for fault in report.faults[:SHOWN]:
        typer.echo(f"  {fault}")
    if len(report.faults) > SHOWN:
        typer.echo(f"  and {len(report.faults) - SHOWN} more (--json prints all)")
    typer.echo("log and read model say the same" if report.ok else f"{len(report.faults)} faults")
