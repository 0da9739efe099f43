"""The SQL of a Delta table. A block is one MERGE, for there are no transactions of several statements."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from services.runtime.sql import blocks
from services.writers.warehouses.converting import Conversions
from services.writers.warehouses.databricks.settings import DatabricksSettings
from services.writers.warehouses.piecewise import as_json
from services.writers.warehouses.warehouse import ERASED, JOB_COLUMNS, Column, ColumnType, JobKey, JobRows, Value

SQL = blocks(Path(__file__).with_name("statements.sql"))
TYPES: Mapping[ColumnType, str] = {
    ColumnType.TEXT: "STRING",
    ColumnType.INTEGER: "BIGINT",
    ColumnType.NUMBER: "DOUBLE",
    ColumnType.BOOLEAN: "BOOLEAN",
    ColumnType.TIMESTAMP: "TIMESTAMP",
    ColumnType.JSON: "STRING",  # a VARIANT shuts out readers of older runtimes, and takes no part in a UNION
}
JSON_COMMENT = "JSON"  # of a column of texts that are JSON: what tells it from other texts
# How a value gets out of its place in an item, where each is a text or null.
_READ: Mapping[ColumnType, str] = {
    ColumnType.TEXT: "item[{0}]",
    ColumnType.INTEGER: "CAST(item[{0}] AS BIGINT)",
    ColumnType.NUMBER: "CAST(item[{0}] AS DOUBLE)",
    ColumnType.BOOLEAN: "CAST(item[{0}] AS BOOLEAN)",
    ColumnType.TIMESTAMP: "TIMESTAMP_MICROS(CAST(item[{0}] AS BIGINT))",
    ColumnType.JSON: "item[{0}]",
}


class Statements:
    """Everything that is said to Databricks about one table."""

    def __init__(self, settings: DatabricksSettings) -> None:
        self._table = ".".join(_name(part) for part in (settings.catalog, settings.schema, settings.table))
        self._gone = ".".join(_name(part) for part in (settings.catalog, settings.schema, f"{settings.table}_gone"))
        self.make = (
            SQL["create_gone"].format(gone=self._gone),
            SQL["create"].format(table=self._table, declared=_declared(JOB_COLUMNS)),
        )
        self.add_gone = SQL["add_gone"].format(gone=self._gone)
        self.describe = SQL["describe"].format(table=self._table)
        self.erase = SQL["erase"].format(table=self._table)

    def add_columns(self, columns: Sequence[Column]) -> str:
        """Return the statement that adds columns; it fails where one of them is there."""
        return SQL["add_columns"].format(table=self._table, declared=_declared(columns))

    def overtake(self, mark: str) -> str:
        """Return the statement that has all those fail which are under way; `mark` is one that was not there before."""
        return SQL["overtake"].format(table=self._table, mark=mark)

    def write(self, columns: Sequence[Column]) -> str:
        """Return the statement that writes jobs."""
        names = [_name(column.name) for column in columns]
        read = [_READ[column.type].format(place) for place, column in enumerate(columns)]
        return SQL["write"].format(
            table=self._table,
            gone=self._gone,
            values=", ".join(f"{value} AS {name}" for value, name in zip(read, names, strict=True)),
            nothing=", ".join(f"CAST(NULL AS {TYPES[column.type]}) AS {_name(column.name)}" for column in columns),
            names=", ".join(names),
            inserted=", ".join(f"new.{name}" for name in names),
        )


def jobs_text(jobs: Iterable[JobRows]) -> str:
    """Return jobs, their generations and which items come of them as the parameter `jobs`."""
    return as_json(
        [[job.key.org_id, job.key.job_id, *map(str, (job.generation, job.first_item, job.next_item))] for job in jobs]
    )


def keys_text(keys: Iterable[JobKey]) -> str:
    """Return jobs that are erased as the parameter `jobs`."""
    return as_json([[key.org_id, key.job_id, str(ERASED)] for key in keys])


def rows_text(columns: Sequence[Column], jobs: Iterable[JobRows]) -> str:
    """Return the rows of jobs as the parameter `rows`, in which all values are texts."""
    typed = (ColumnType.INTEGER, ColumnType.NUMBER, ColumnType.BOOLEAN, ColumnType.TIMESTAMP)
    conversions = Conversions(columns, dict.fromkeys(typed, _text))
    return as_json(conversions.of([row for job in jobs for row in job.rows]))


def column_type(described: str, comment: str) -> ColumnType | None:
    """Return what a column of a described type holds; None where none of ours stands for it."""
    name = described.upper()
    if name == "STRING":
        return ColumnType.JSON if comment.upper().startswith(JSON_COMMENT) else ColumnType.TEXT
    return next((kind for kind, declared in TYPES.items() if declared == name), None)


def _text(value: Value) -> Value:
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case _:
            return value


def _declared(columns: Sequence[Column]) -> str:
    return ", ".join(
        f"{_name(column.name)} {TYPES[column.type]}"
        + (f" COMMENT '{JSON_COMMENT}'" if column.type is ColumnType.JSON else "")
        for column in columns
    )


def _name(part: str) -> str:
    return f"`{part}`"
