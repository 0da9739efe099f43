"""Statements for one table of a customer's Postgres, and the types of its columns."""

from collections.abc import Sequence
from pathlib import Path

from psycopg import sql

from services.runtime.sql import blocks
from services.writers.warehouses.customer_postgres.settings import PostgresSettings
from services.writers.warehouses.warehouse import JOB_COLUMNS, Column, ColumnType

SQL = blocks(Path(__file__).with_name("statements.sql"))
JOBS, KEY = "__jobs", "__key"  # behind the name of the table: which generation each job has, and the unique index
TYPES = {
    ColumnType.TEXT: "text",
    ColumnType.INTEGER: "bigint",
    ColumnType.NUMBER: "double precision",
    ColumnType.BOOLEAN: "boolean",
    ColumnType.TIMESTAMP: "timestamptz",
    ColumnType.JSON: "jsonb",
}
SYSTEM = frozenset({"cmax", "cmin", "ctid", "tableoid", "xmax", "xmin"})  # names that are taken in every table
READ = {  # by what Postgres calls them inside
    "text": ColumnType.TEXT,
    "varchar": ColumnType.TEXT,
    "int8": ColumnType.INTEGER,
    "float8": ColumnType.NUMBER,
    "bool": ColumnType.BOOLEAN,
    "timestamptz": ColumnType.TIMESTAMP,
    "jsonb": ColumnType.JSON,
    "json": ColumnType.JSON,
}


class Statements:
    """Fits the statements to a table."""

    def __init__(self, settings: PostgresSettings) -> None:
        table = sql.Identifier(settings.schema, settings.table)
        jobs = sql.Identifier(settings.schema, settings.table + JOBS)
        key = sql.Identifier(settings.table + KEY)  # an index is in the schema of its table
        self._names = {"table": table, "jobs": jobs, "key": key}
        self.lock_schema = sql.SQL(SQL["lock_schema"])
        self.columns = sql.SQL(SQL["columns"])
        self.there_are = sql.SQL(SQL["there_are"])
        self.make_table = self._made("make_table", columns=_defined(JOB_COLUMNS))
        self.make_key = self._made("make_key")
        self.make_jobs = self._made("make_jobs")
        self.take_jobs = self._made("take_jobs")
        self.delete_rows = self._made("delete_rows")
        self.values = {
            "place": settings.place,
            "schema": settings.schema,
            "table": settings.table,
            "jobs": f"{settings.schema}.{settings.table}{JOBS}",
            "key": f"{settings.schema}.{settings.table}{KEY}",
        }

    def add_columns(self, columns: Sequence[Column]) -> sql.Composed:
        """Return what adds columns that are not there yet."""
        added = (sql.SQL("ADD COLUMN IF NOT EXISTS {}").format(_defined([column])) for column in columns)
        return sql.SQL("ALTER TABLE {table} ").format(**self._names) + sql.SQL(", ").join(added)

    def copy_rows(self, columns: Sequence[Column]) -> sql.Composed:
        """Return what takes rows of these columns."""
        names = sql.SQL(", ").join(sql.Identifier(column.name) for column in columns)
        return self._made("copy_rows", columns=names)

    def _made(self, name: str, **more: sql.Composable) -> sql.Composed:
        return sql.SQL(SQL[name]).format(**self._names, **more)


def _defined(columns: Sequence[Column]) -> sql.Composed:
    return sql.SQL(", ").join(
        sql.SQL("{} ").format(sql.Identifier(column.name)) + sql.SQL(TYPES[column.type]) for column in columns
    )
