"""Destinations as they are configured now; looked up again after some seconds, so a change is soon in effect."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from psycopg import AsyncConnection
from psycopg.rows import class_row
from psycopg_pool import AsyncConnectionPool

from services.runtime.sql import blocks
from services.writers.known import Known

SQL = blocks(Path(__file__).with_name("stored.sql"))
KNOWN_SECONDS = 2.0
Pool = AsyncConnectionPool[AsyncConnection[Any]]
Name = tuple[str, str]  # org_id, destination_id


@dataclass(frozen=True, slots=True)
class StoredDestination:
    """Where rows go; `version` is another one whenever settings or secrets are."""

    kind: str
    enabled: bool
    settings: dict[str, Any]
    sealed: bytes | None = field(repr=False)
    version: int


class Destinations(Protocol):
    """Knows the destinations of all orgs."""

    async def find(self, name: Name) -> StoredDestination | None:
        """Return a destination, or None where it was deleted; raises errors of psycopg and its pool."""


class StoredDestinations:
    """Destinations in Postgres."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._known = Known(self._looked_up, seconds=KNOWN_SECONDS)

    async def find(self, name: Name) -> StoredDestination | None:
        """Return a destination as it was at most KNOWN_SECONDS ago."""
        return await self._known.find(name)

    async def _looked_up(self, name: Name) -> StoredDestination | None:
        values = {"org_id": name[0], "destination_id": name[1]}
        shape = class_row(StoredDestination)
        async with self._pool.connection() as connection, connection.cursor(row_factory=shape) as cursor:
            await cursor.execute(SQL["destination"], values)
            return await cursor.fetchone()
