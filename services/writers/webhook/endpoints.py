"""Endpoints as they are configured now; looked up again after a second, so a change is soon in effect."""

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from psycopg import AsyncConnection
from psycopg.rows import class_row
from psycopg_pool import AsyncConnectionPool

from services.runtime.sql import blocks

SQL = blocks(Path(__file__).with_name("endpoints.sql"))
KNOWN_SECONDS = 1.0
KNOWN_ENDPOINTS = 10_000
Pool = AsyncConnectionPool[AsyncConnection[Any]]
Name = tuple[str, str]  # org_id, webhook_id


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where messages go and with which secrets they are signed, the newest first."""

    url: str
    enabled: bool
    secrets: list[str] = field(repr=False)
    version: int = 1  # the next one has another url, or was enabled again


class Endpoints(Protocol):
    """Knows the endpoints of all orgs."""

    async def find(self, name: Name) -> Endpoint | None:
        """Return an endpoint, or None where it was deleted."""

    async def disable(self, name: Name, url: str, reason: str) -> None:
        """Keep later jobs from getting this endpoint, unless its url is another by now."""


class StoredEndpoints:
    """Endpoints in Postgres."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._known: dict[Name, tuple[float, Endpoint | None]] = {}

    async def find(self, name: Name) -> Endpoint | None:
        """Return an endpoint as it was at most a second ago."""
        until, endpoint = self._known.get(name, (0.0, None))
        if until > time.monotonic():
            return endpoint
        values = {"org_id": name[0], "webhook_id": name[1]}
        async with self._pool.connection() as connection, connection.cursor(row_factory=class_row(Endpoint)) as cursor:
            await cursor.execute(SQL["endpoint"], values)
            endpoint = await cursor.fetchone()
        if len(self._known) >= KNOWN_ENDPOINTS:
            self._known.clear()
        self._known[name] = (time.monotonic() + KNOWN_SECONDS, endpoint)
        return endpoint

    async def disable(self, name: Name, url: str, reason: str) -> None:
        """Disable an endpoint; safe to repeat."""
        values = {"org_id": name[0], "webhook_id": name[1], "url": url, "reason": reason}
        async with self._pool.connection() as connection:
            await connection.execute(SQL["disable"], values)
        self._known.pop(name, None)
