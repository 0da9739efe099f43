"""How far each read model has the log, as its bookkeeping in Postgres says: asked of the store, not of the process."""

from pathlib import Path

import psycopg
from psycopg import sql
from psycopg.errors import UndefinedTable

from projections.clickhouse.migrate import SCHEMA as BOOKS
from services.runtime.sql import blocks

CONNECT_SECONDS = 3
SQL = blocks(Path(__file__).with_name("checkpoints.sql"))


def postgres_checkpoints(dsn: str) -> dict[int, int]:
    """Return the position up to which the active version of the read model in Postgres has each partition."""
    try:
        return _active_positions(dsn)
    except UndefinedTable:  # a rebuild has just replaced it
        return _active_positions(dsn)


def _active_positions(dsn: str) -> dict[int, int]:
    with psycopg.connect(dsn, autocommit=True, connect_timeout=CONNECT_SECONDS) as connection:
        active = connection.execute(SQL["active_schema"]).fetchone()
        assert active is not None, "migrations name an active version"
        return _positions(connection, active[0])


def clickhouse_checkpoints(dsn: str) -> dict[int, int]:
    """Return the position up to which ClickHouse has each partition; empty where nothing was ever projected there."""
    with psycopg.connect(dsn, autocommit=True, connect_timeout=CONNECT_SECONDS) as connection:
        there = connection.execute(SQL["has_checkpoints"], (f"{BOOKS}.checkpoints",)).fetchone()
        return _positions(connection, BOOKS) if there and there[0] else {}


def _positions(connection: psycopg.Connection, schema: str) -> dict[int, int]:
    query = sql.SQL(SQL["positions"]).format(schema=sql.Identifier(schema))
    return dict(connection.execute(query).fetchall())
