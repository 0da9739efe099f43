"""Tables of BigQuery in DuckDB: statements in GoogleSQL are translated and run, and rows are checked as a load does."""

import contextlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import duckdb
import sqlglot
from sqlglot import exp

from tests.fakes.warehouses.bigquery.shapes import Field, Schema

TYPES = {
    "STRING": "VARCHAR",
    "INT64": "BIGINT",
    "INTEGER": "BIGINT",
    "FLOAT64": "DOUBLE",
    "FLOAT": "DOUBLE",
    "BOOL": "BOOLEAN",
    "BOOLEAN": "BOOLEAN",
    "TIMESTAMP": "TIMESTAMPTZ",
    "JSON": "JSON",
    "NUMERIC": "DECIMAL(38, 9)",
}
ALLOWED = (exp.Transaction, exp.Commit, exp.Merge, exp.Delete, exp.Insert, exp.Select)
MOST_NESTED = 500
INT64, UINT64 = 1 << 63, 1 << 64
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Bad(Exception):
    """A statement or a row that BigQuery would not take."""


class Engine:
    """The tables of a project."""

    def __init__(self, project: str) -> None:
        self._project = project
        self._duck = duckdb.connect()
        self._duck.execute(f"ATTACH ':memory:' AS \"{project}\"; SET TimeZone = 'UTC'; SET threads = 1")
        self._duck.create_function("parse_json_of_bigquery", parsed_json, ["VARCHAR", "VARCHAR"], "VARCHAR")

    def close(self) -> None:
        """Forget everything."""
        self._duck.close()

    def make_dataset(self, dataset: str) -> None:
        """Make a dataset."""
        self._duck.execute(f'CREATE SCHEMA "{self._project}"."{dataset}"')

    def make(self, dataset: str, table: str, schema: Schema) -> None:
        """Make a table."""
        self._duck.execute(f"CREATE TABLE {self._name(dataset, table)} ({', '.join(map(_column, schema.fields))})")

    def drop(self, dataset: str, table: str) -> None:
        """Take a table away."""
        self._duck.execute(f"DROP TABLE {self._name(dataset, table)}")

    def add(self, dataset: str, table: str, fields: Sequence[Field]) -> None:
        """Add columns."""
        for field in fields:
            self._duck.execute(f"ALTER TABLE {self._name(dataset, table)} ADD COLUMN {_column(field)}")

    def replace(self, dataset: str, table: str, fields: Sequence[Field], rows: Sequence[Mapping[str, Any]]) -> None:
        """Make rows the only ones of a table."""
        name = self._name(dataset, table)
        columns = {f"c{number}": [row.get(field.name) for row in rows] for number, field in enumerate(fields)}
        values = ", ".join(_unnested(f"c{number}", field) for number, field in enumerate(fields))
        self._duck.execute(f"DELETE FROM {name}")
        if rows:
            names = ", ".join(f'"{field.name}"' for field in fields)
            self._duck.execute(f"INSERT INTO {name} ({names}) SELECT {values}", columns)

    def run(self, text: str, parameters: Mapping[str, Any]) -> None:
        """Run statements; a transaction that does not end is undone."""
        try:
            parsed = sqlglot.parse(text, read="bigquery")
            for statement in filter(None, parsed):
                if not isinstance(statement, ALLOWED):
                    raise Bad(f"Statement not supported: {type(statement).__name__}")
                names = {found.name for found in statement.find_all(exp.Parameter)}
                if missing := names - parameters.keys():
                    raise Bad(f"Query parameter '{missing.pop()}' not found")
                translated = statement.transform(_translated).sql(
                    "duckdb", unsupported_level=sqlglot.ErrorLevel.RAISE, identify=True
                )
                self._duck.execute(translated, {name: parameters[name] for name in names})
        except (sqlglot.ParseError, sqlglot.UnsupportedError, duckdb.Error) as error:
            raise Bad(str(error)) from error
        finally:
            with contextlib.suppress(duckdb.TransactionException):
                self._duck.execute("ROLLBACK")

    def rows(self, dataset: str, table: str, columns: Sequence[str]) -> list[tuple[Any, ...]]:
        """Return rows as a person would read them; times as microseconds since 1970, JSON as text."""
        kinds = {
            name: kind for name, kind, *_ in self._duck.execute(f"DESCRIBE {self._name(dataset, table)}").fetchall()
        }
        asked = (f'epoch_us("{each}")' if "TIME" in kinds[each] else f'"{each}"' for each in columns)
        return self._duck.execute(f"SELECT {', '.join(asked)} FROM {self._name(dataset, table)}").fetchall()

    def _name(self, dataset: str, table: str) -> str:
        return f'"{self._project}"."{dataset}"."{table}"'


def checked_row(line: str, fields: Mapping[str, Field]) -> dict[str, Any]:
    """Read a line as a load job does; Bad says what is wrong with it, and quotes what is."""
    try:
        row = json.loads(line)
    except ValueError:
        raise Bad("Parser terminated before end of string") from None
    if not isinstance(row, dict):
        raise Bad("Unexpected type")
    for name, value in row.items():
        field = fields.get(name)
        if field is None:
            raise Bad(f"No such field: {name}.")
        if value is not None and not _fits(field.type, value):
            raise Bad(f"Could not convert value to {field.type.lower()}. Field: {name}; Value: {str(value)[:100]}")
    return row


def _fits(kind: str, value: Any) -> bool:
    match kind:
        case "STRING":
            return isinstance(value, str)
        case "INT64" | "INTEGER":
            text = str(value)
            plain = not isinstance(value, bool) and re.fullmatch(r"-?\d{1,19}", text)
            return bool(plain) and -INT64 <= int(text) < INT64
        case "FLOAT64" | "FLOAT":
            finite = isinstance(value, int | float) and not isinstance(value, bool)
            return finite or value in ("NaN", "Infinity", "-Infinity")
        case "BOOL" | "BOOLEAN":
            return isinstance(value, bool)
        case "TIMESTAMP":
            return isinstance(value, str) and _micros(value) is not None
    return False


def _micros(text: str) -> int | None:
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (when - EPOCH) // timedelta(microseconds=1) if when.tzinfo else None


def _unnested(name: str, field: Field) -> str:
    match field.type:
        case "TIMESTAMP":
            return f"unnest(${name}::VARCHAR[])::TIMESTAMPTZ"
        case "STRING":
            return f"unnest(${name}::VARCHAR[])"
    return f"unnest(${name})::{TYPES[field.type]}"


def _column(field: Field) -> str:
    checks = f' CHECK (length("{field.name}") <= {int(field.max_length)})' if field.max_length else ""
    required = " NOT NULL" if field.mode == "REQUIRED" else ""
    return f'"{field.name}" {TYPES[field.type]}{required}{checks}'


def _translated(node: exp.Expression) -> exp.Expression:
    """Let the one function run here whose meaning another database does not share."""
    if not isinstance(node, exp.ParseJSON):
        return node
    named = node.args.get("expression")
    mode = named.expression if isinstance(named, exp.Kwarg) else exp.Literal.string("exact")
    return exp.Anonymous(this="parse_json_of_bigquery", expressions=[node.this, mode])


def parsed_json(text: str, mode: str) -> str:
    """PARSE_JSON: numbers are integers of 64 bits or doubles, others are rounded or refused; the first of keys."""

    def number(digits: str) -> int | float:
        if re.fullmatch(r"-?\d+", digits) and -INT64 <= int(digits) < UINT64:
            return int(digits)
        rounded = float(digits)
        if not math.isfinite(rounded) or (mode != "round" and repr(rounded) != digits):
            raise ValueError("Input number cannot round-trip through string representation")
        return rounded

    def first(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        return dict(reversed(pairs))

    if _depth(text) > MOST_NESTED:
        raise ValueError("Max nesting depth exceeded")
    return json.dumps(
        json.loads(text, parse_int=number, parse_float=number, object_pairs_hook=first), ensure_ascii=False
    )


def _depth(text: str) -> int:
    depth = deepest = 0
    for each in re.findall(r'"(?:[^"\\]|\\.)*"|[\[{]|[\]}]', text):
        depth += 1 if each in "[{" else -1 if each in "]}" else 0
        deepest = max(deepest, depth)
    return deepest
