"""Draws answers of ClickHouse as tables: a number with as many digits as a person reads, a unit with each column."""

from collections.abc import Sequence
from datetime import datetime

from rich.table import Table
from rich.text import Text

from projections.clickhouse.asking import Answer
from projections.clickhouse.queries import Query, Unit
from services.cli.spans import span

SHOWN = 40  # rows of a table; --json prints all
IN_HEADS: dict[Unit, str] = {"days": "days", "credits": "credits", "times": "× mean"}


def heading(query: Query) -> Text:
    """Say what a table answers."""
    return Text(query.title, style="bold").append(f"  {query.answers}", style="not bold dim")


def table_of(answer: Answer) -> Table:
    """Draw the rows of an answer."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in answer.columns:
        unit = answer.query.units.get(column)
        head = f"{column} ({IN_HEADS[unit]})" if unit in IN_HEADS and column != unit else column
        table.add_column(head, justify="right" if unit and unit != "time" else "left", no_wrap=not unit)
    for row in answer.rows[:SHOWN]:
        cells = [cell(value, answer.query.units.get(column)) for column, value in zip(answer.columns, row, strict=True)]
        table.add_row(*map(Text, cells))
    if len(answer.rows) > SHOWN:
        table.add_row(f"and {len(answer.rows) - SHOWN} more (--json prints all)")
    return table


def cell(value: object, unit: Unit | None) -> str:
    """Return a value as a person reads it: `-` where there is none."""
    match value, unit:
        case (None, _) | ("", _):
            return "-"
        case datetime(), _:
            return f"{value:%Y-%m-%d %H:%M:%S}"
        case float() | int(), "s":
            return span(value * 1000)
        case float() | int(), "ms":
            return span(value)
        case float() | int(), "share":
            return f"{value:.1%}"
        case float(), _:
            return f"{value:,.2f}"
        case int(), _:
            return f"{value:,}"
    return str(value)


def list_of(told: Sequence[Query]) -> Table:
    """Draw the list of queries."""
    table = Table("query", "answers", box=None, pad_edge=False, header_style="dim")
    for query in told:
        table.add_row(query.name, query.answers)
    return table
