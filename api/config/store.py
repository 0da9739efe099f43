"""Runs the named queries of the config schema, each in the shape that its caller names.

A pool of autocommit connections; `transaction()` where several statements belong together.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from psycopg import AsyncConnection
from psycopg.rows import class_row
from psycopg_pool import AsyncConnectionPool

from services.runtime.sql import blocks

T = TypeVar("T")
Pool = AsyncConnectionPool[AsyncConnection[Any]]
QUERIES = Path(__file__).parent / "queries.sql"


async def rows(connection: AsyncConnection[Any], shape: type[T], name: str, values: Mapping[str, Any]) -> list[T]:
    """Return the rows of a named query."""
    async with connection.cursor(row_factory=class_row(shape)) as cursor:
        await cursor.execute(blocks(QUERIES)[name], values)
        return await cursor.fetchall()


async def row(connection: AsyncConnection[Any], shape: type[T], name: str, values: Mapping[str, Any]) -> T | None:
    """Return the first row of a named query, or None."""
    return next(iter(await rows(connection, shape, name, values)), None)


async def one(connection: AsyncConnection[Any], shape: type[T], name: str, values: Mapping[str, Any]) -> T:
    """Return the row of a named statement that always has one, such as an INSERT ... RETURNING."""
    [found] = await rows(connection, shape, name, values)
    return found


async def execute(connection: AsyncConnection[Any], name: str, values: Mapping[str, Any]) -> None:
    """Run a named statement that returns nothing of interest."""
    await connection.execute(blocks(QUERIES)[name], values)


@asynccontextmanager
async def transaction(pool: Pool) -> AsyncIterator[AsyncConnection[Any]]:
    """Lend a connection in a transaction that commits when the block ends well."""
    async with pool.connection() as connection, connection.transaction():
        yield connection
