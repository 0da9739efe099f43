"""The SQL of a Snowflake table."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from services.runtime.sql import blocks
from services.writers.warehouses.snowflake.settings import SnowflakeSettings
from services.writers.warehouses.warehouse import JOB_COLUMNS, Column, ColumnType

SQL = blocks(Path(__file__).with_name("statements.sql"))
TYPES: Mapping[ColumnType, str] = {
    ColumnType.TEXT: "VARCHAR",
    ColumnType.INTEGER: "NUMBER(19,0)",
    ColumnType.NUMBER: "FLOAT",
    ColumnType.BOOLEAN: "BOOLEAN",
    ColumnType.TIMESTAMP: "TIMESTAMP_NTZ(6)",
    ColumnType.JSON: "VARIANT",
}
# How a value gets out of its place in a bound row.
_READ: Mapping[ColumnType, str] = {
    ColumnType.TEXT: "value[{0}]::VARCHAR",
    ColumnType.INTEGER: "value[{0}]::NUMBER(19,0)",
    ColumnType.NUMBER: "value[{0}]::FLOAT",
    ColumnType.BOOLEAN: "value[{0}]::BOOLEAN",
    ColumnType.TIMESTAMP: "TO_TIMESTAMP_NTZ(value[{0}]::NUMBER(19,0), 6)",
    ColumnType.JSON: "PARSE_JSON(value[{0}]::VARCHAR)",
}


class Statements:
    """Everything that is said to Snowflake about one table."""

    def __init__(self, settings: SnowflakeSettings) -> None:
        schema = (settings.database, settings.schema)
        self._table = _name(*schema, settings.table)
        turns = _name(*schema, f"{settings.table}_TURNS")
        gone = _name(*schema, f"{settings.table}_GONE")
        declared = ", ".join(_declared(column) for column in JOB_COLUMNS)
        self.make = (
            SQL["create"].format(table=self._table, declared=declared),
            SQL["create_gone"].format(gone=gone),
            SQL["create_turns"].format(turns=turns),
            SQL["first_turn"].format(turns=turns),
        )
        self.take_turn = SQL["take_turn"].format(turns=turns)
        self.describe, self.held, self.delete, self.forget_gone, self.insert_gone = (
            SQL[name].format(table=self._table, gone=gone)
            for name in ("describe", "held", "delete", "forget_gone", "insert_gone")
        )

    def add_columns(self, columns: Sequence[Column]) -> str:
        """Return the statement that adds columns where they are not there."""
        added = ", ".join(f"COLUMN IF NOT EXISTS {_declared(column)}" for column in columns)
        return SQL["add_columns"].format(table=self._table, added=added)

    def insert(self, columns: Sequence[Column]) -> str:
        """Return the statement that inserts bound rows."""
        return SQL["insert"].format(
            table=self._table,
            names=", ".join(_name(column.name) for column in columns),
            values=", ".join(_READ[column.type].format(place) for place, column in enumerate(columns)),
        )


def column_type(described: str) -> ColumnType | None:
    """Return what a column of a described type holds; None where none of ours stands for it."""
    name, _, size = described.partition("(")
    match name.upper():
        case "VARCHAR" | "TEXT" | "STRING":
            return ColumnType.TEXT
        case "NUMBER":
            return ColumnType.INTEGER if _holds_integers(size) else None
        case "FLOAT" | "DOUBLE" | "REAL":
            return ColumnType.NUMBER
        case "BOOLEAN":
            return ColumnType.BOOLEAN
        case "TIMESTAMP_NTZ":
            return ColumnType.TIMESTAMP
        case "VARIANT":
            return ColumnType.JSON
        case _:
            return None


def _holds_integers(size: str) -> bool:
    """Whether NUMBER(size) holds every integer of 64 bits and nothing else."""
    precision, _, scale = size.rstrip(")").partition(",")
    return precision.strip().isdecimal() and int(precision) >= 19 and int(scale or 0) == 0


def _declared(column: Column) -> str:
    return f"{_name(column.name)} {TYPES[column.type]}"


def _name(*parts: str) -> str:
    """Return a name as Snowflake keeps those without quotes; in quotes, so that a reserved word is a name too."""
    return ".".join(f'"{part.upper()}"' for part in parts)
