"""What tables a destination in ClickHouse is made of.

Rows of every generation lie in one table, and which generation of each job counts in another, whose row is inserted
last: that makes all rows of the job appear at once, and those of the one before disappear. People read a view of both.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from services.runtime.sql import blocks
from services.writers.warehouses.warehouse import JOB_COLUMNS, Column, ColumnType

SQL = blocks(Path(__file__).parent / "statements.sql")
ROWS, GENERATIONS = "__rows", "__generations"  # behind the name of the view
KEYS = frozenset({"_org_id", "_job_id", "_item", "_generation"})  # columns that are never empty
TYPES = {
    ColumnType.TEXT: "String",
    ColumnType.INTEGER: "Int64",
    ColumnType.NUMBER: "Float64",
    ColumnType.BOOLEAN: "Bool",
    ColumnType.TIMESTAMP: "DateTime64(6, 'UTC')",
    ColumnType.JSON: "String",  # its text: ClickHouse's type JSON has no order of keys, no null and no wide number
}
JSON_COMMENT = "JSON"  # tells JSON from other text


def make_rows(table: str) -> str:
    """Return what makes the table of rows."""
    columns = ", ".join(f"`{column.name}` {_type(column)}" for column in JOB_COLUMNS)
    return SQL["make_rows"].format(table=table, columns=columns)


def make_view(table: str, names: Sequence[str]) -> str:
    """Return what makes the view, or renews it, with these columns."""
    return SQL["make_view"].format(table=table, names=", ".join(f"`{name}`" for name in names))


def add_columns(table: str, columns: Sequence[Column]) -> str:
    """Return what adds columns that are not there yet."""
    added = ", ".join(f"ADD COLUMN IF NOT EXISTS `{column.name}` {_type(column)}" for column in columns)
    return f"ALTER TABLE `{table}{ROWS}` {added}"


def columns_of(found: Sequence[Sequence[str]]) -> Mapping[str, ColumnType]:
    """Return the columns that something can be written to, of those that there are: each with its type and comment."""
    known = {written: kind for kind, written in TYPES.items() if kind is not ColumnType.JSON}
    known |= {f"Nullable({written})": kind for written, kind in known.items()}
    return {
        name: ColumnType.JSON if known[written] is ColumnType.TEXT and comment == JSON_COMMENT else known[written]
        for name, written, comment in found
        if written in known
    }


def _type(column: Column) -> str:
    written = TYPES[column.type] if column.name in KEYS else f"Nullable({TYPES[column.type]})"
    return f"{written} COMMENT '{JSON_COMMENT}'" if column.type is ColumnType.JSON else written
