"""Connections of the scheduler that see the active version of the read model."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from psycopg import AsyncConnection, sql

from api.config.store import Pool, transaction

ACTIVE = "SELECT schema_name FROM jobledger.active_version WHERE read_model = 'postgres'"


@asynccontextmanager
async def reading(pool: Pool) -> AsyncIterator[AsyncConnection[Any]]:
    """Lend a connection in a transaction that finds the tables of the read model by their names."""
    async with transaction(pool) as connection:
        active = await (await connection.execute(ACTIVE)).fetchone()
        assert active is not None
        await connection.execute(sql.SQL("SET LOCAL search_path TO {}").format(sql.Identifier(active[0])))
        yield connection
