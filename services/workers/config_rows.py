"""What is sealed for workers in the configuration: read from Postgres when it is wanted, by one small pool."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psycopg
import psycopg_pool
from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool

from services.runtime.errors import CredentialsAway
from services.runtime.settings import Settings
from services.runtime.sql import blocks

SQL = blocks(Path(__file__).with_name("credentials.sql"))
MAX_CONNECTIONS = 2
POOL_SECONDS = 5.0
AWAY = "Postgres, where credentials are kept, does not answer"


class ConfigRows:
    """Opens no connection before it is asked for the first time."""

    def __init__(self, settings: Settings) -> None:
        self._pool: AsyncConnectionPool[AsyncConnection[Any]] = AsyncConnectionPool(
            settings.postgres, min_size=0, max_size=MAX_CONNECTIONS, open=False, timeout=POOL_SECONDS
        )

    async def start(self) -> None:
        """Make ready to connect."""
        await self._pool.open()

    async def close(self) -> None:
        """Close the connections."""
        await self._pool.close()

    async def sealed(self, query: str, name: Mapping[str, str]) -> bytes | None:
        """Return what a query of credentials.sql finds sealed, or None; raises CredentialsAway."""
        try:
            async with self._pool.connection() as connection:
                row = await (await connection.execute(SQL[query], name)).fetchone()
        except (psycopg.Error, psycopg_pool.PoolTimeout):
            raise CredentialsAway(AWAY) from None  # what Postgres says may quote the connection string
        return bytes(row[0]) if row and row[0] is not None else None
