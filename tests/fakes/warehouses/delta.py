"""Delta tables as DuckDB plays them: statements of Databricks are translated, each commits whole or not at all.

A statement that others overtook, between its reading and its commit, fails as it does where a table is serializable.
"""

import asyncio
import re
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import duckdb
import sqlglot
from sqlglot import exp

Rows = Sequence[Sequence[str | None]]
_NAMES = {"VARCHAR": "string", "TIMESTAMP WITH TIME ZONE": "timestamp"}


class Failed(Exception):
    """The statement failed, with a message as Databricks words it."""

    def __init__(self, error_class: str, state: str, text: str = "it failed") -> None:
        super().__init__(f"[{error_class}] {text} SQLSTATE: {state}")


CONFLICT = ("DELTA_CONCURRENT_APPEND", "2D521")


@dataclass
class Delta:
    """A metastore with one catalog and one schema."""

    catalog: str = "lake"
    schema: str = "results"
    before_commit: asyncio.Event | None = None  # the next statement waits for it, and takes it away
    held_back: asyncio.Event = field(default_factory=asyncio.Event)  # a statement waits
    _versions: Counter[str] = field(default_factory=Counter)  # by table
    _comments: dict[tuple[str, str], str] = field(default_factory=dict)  # by table and column

    def __post_init__(self) -> None:
        """Make the schema."""
        self._duck = duckdb.connect(":memory:")
        self._duck.execute("SET TimeZone = 'UTC'")
        self._duck.execute(f"ATTACH ':memory:' AS {self.catalog}; CREATE SCHEMA {self.catalog}.{self.schema}")

    def rows(self, query: str) -> list[tuple[object, ...]]:
        """Return what DuckDB answers, for a test to look at."""
        return self._duck.cursor().execute(query).fetchall()

    async def run(self, statement: str, parameters: Mapping[str, str]) -> Rows:
        """Run a statement of Databricks."""
        try:
            tree = sqlglot.parse_one(statement, read="databricks")
        except sqlglot.ParseError as error:
            raise Failed("PARSE_SYNTAX_ERROR", "42601") from error
        _check_markers(tree, parameters)
        if isinstance(tree, exp.Describe):
            table = tree.this.name
            return [
                [name, _NAMES.get(kind, kind.lower()), self._comments.get((table, name))]
                for name, kind, *_ in self._answer(tree.this)
            ]
        comments = _taken_comments(tree)
        table = tree.find(exp.Table)
        assert table
        altered = isinstance(tree, exp.Alter)
        await self._committed(table.name, [each.sql("duckdb") for each in _translated(tree)], parameters, altered)
        self._comments = comments | self._comments
        return []

    def _answer(self, table: exp.Expr) -> list[tuple[str, ...]]:
        try:
            return self._duck.cursor().execute(f"DESCRIBE {table.sql('duckdb')}").fetchall()
        except duckdb.Error as error:
            raise _failed(error) from error

    async def _committed(
        self, table: str, statements: Sequence[str], parameters: Mapping[str, str], changed: bool
    ) -> None:
        read, duck = self._versions[table], self._duck.cursor()
        duck.execute("SET TimeZone = 'UTC'; BEGIN")
        try:
            for each in statements:
                used = {name: value for name, value in parameters.items() if f"${name}" in each}
                answer = duck.execute(each, used).fetchall()
                changed = changed or answer not in ([], [(0,)])  # Delta commits nothing where no row changes
            if gate := self.before_commit:
                self.before_commit = None
                self.held_back.set()
                await gate.wait()
            if self._versions[table] != read:
                raise Failed(*CONFLICT)
            duck.execute("COMMIT")
        except duckdb.Error as error:
            raise _failed(error) from error
        finally:
            duck.close()  # which rolls back what was not committed
        self._versions[table] += changed


def statement_id() -> str:
    """Return a new id."""
    return str(uuid.uuid4())


def _check_markers(tree: exp.Expr, parameters: Mapping[str, str]) -> None:
    missing = {marker.name for marker in tree.find_all(exp.Placeholder)} - parameters.keys()
    if missing:
        raise Failed("UNBOUND_SQL_PARAMETER", "42P02", f"Found the unbound parameter: {min(missing)}.")


def _taken_comments(tree: exp.Expr) -> dict[tuple[str, str], str]:
    """Take the comments out of columns that a statement declares: DuckDB has another statement for them."""
    found = {}
    table = tree.find(exp.Table)
    for column in tree.find_all(exp.ColumnDef):
        for constraint in column.constraints:
            if table and isinstance(constraint.kind, exp.CommentColumnConstraint):
                found[table.name, column.name] = constraint.kind.name
        column.set("constraints", None)
    return found


def _translated(tree: exp.Expr) -> Sequence[exp.Expr]:
    """Return what says the same to DuckDB, which reads JSON in another way and adds one column at a time."""
    if isinstance(tree, exp.Create):
        tree.set("properties", None)
    if isinstance(tree, exp.Alter):
        [added] = tree.args["actions"]
        if isinstance(added, exp.AlterSet):
            return []  # properties: DuckDB has none
        return [
            exp.Alter(this=tree.this.copy(), kind="TABLE", actions=[_duck(column.copy())])
            for column in added.expressions
        ]
    return [_duck(tree)]


def _duck(tree: exp.Expr) -> exp.Expr:
    return tree.transform(_node)


def _node(node: exp.Expr) -> exp.Expr:
    if isinstance(node, exp.FromJson):
        if node.expression.name != "ARRAY<ARRAY<STRING>>":
            raise Failed("INVALID_SCHEMA", "42K07")
        return exp.cast(exp.cast(node.this, "JSON"), exp.DataType.build("VARCHAR[][]", dialect="duckdb"))
    if isinstance(node, exp.Anonymous) and node.name.upper() == "TIMESTAMP_MICROS":
        return exp.Anonymous(this="MAKE_TIMESTAMPTZ", expressions=node.expressions)
    return node


def _failed(error: duckdb.Error) -> Failed:
    text = str(error)
    match error:
        case duckdb.ConversionException() | duckdb.OutOfRangeException():
            return Failed("CAST_INVALID_INPUT", "22018", text)
        case duckdb.CatalogException() if re.search("already exists", text):
            return Failed("FIELDS_ALREADY_EXISTS", "42710", text)
        case duckdb.CatalogException():
            return Failed("TABLE_OR_VIEW_NOT_FOUND", "42P01", text)
        case duckdb.TransactionException():
            return Failed(*CONFLICT, text)
        case duckdb.ConstraintException():
            return Failed("DELTA_VIOLATE_CONSTRAINT_WITH_VALUES", "23001", text)
        case duckdb.BinderException():
            return Failed("UNRESOLVED_COLUMN.WITH_SUGGESTION", "42703", text)
        case _:
            return Failed("INTERNAL_ERROR", "XX000", text)
