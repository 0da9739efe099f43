"""Endpoints as they are configured now; looked up again after a second, so a change is soon in effect."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from psycopg import AsyncConnection
from psycopg.rows import class_row
from psycopg_pool import AsyncConnectionPool

from services.runtime.kept_secrets import Owner, opened_for
from services.runtime.sealing import Sealer
from services.runtime.sql import blocks
from services.writers.known import Known
from services.writers.webhook.signing import PREFIX

SQL = blocks(Path(__file__).with_name("endpoints.sql"))
CLEAR = PREFIX.encode()  # begins no sealed secret
KNOWN_SECONDS = 1.0
Pool = AsyncConnectionPool[AsyncConnection[Any]]
Name = tuple[str, str]  # org_id, webhook_id


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where messages go and with which secrets they are signed, the newest first."""

    url: str
    enabled: bool
    secrets: list[str] = field(repr=False)
    version: int = 1  # the next one has another url, or was enabled again


@dataclass(frozen=True, slots=True)
class _Row:
    url: str
    enabled: bool
    secrets: list[bytes] = field(repr=False)  # sealed, or in clear where nobody has sealed them yet
    version: int = 1


class Endpoints(Protocol):
    """Knows the endpoints of all orgs."""

    async def find(self, name: Name) -> Endpoint | None:
        """Return an endpoint, or None where it was deleted."""


class StoredEndpoints:
    """Endpoints in Postgres."""

    def __init__(self, pool: Pool, credentials_key: str) -> None:
        self._pool = pool
        self._sealer = Sealer(credentials_key) if credentials_key else None
        self._known = Known(self._looked_up, seconds=KNOWN_SECONDS)

    async def find(self, name: Name) -> Endpoint | None:
        """Return an endpoint as it was at most a second ago; Unsealable where its secrets cannot be opened."""
        return await self._known.find(name)

    async def _looked_up(self, name: Name) -> Endpoint | None:
        values = {"org_id": name[0], "webhook_id": name[1]}
        async with self._pool.connection() as connection, connection.cursor(row_factory=class_row(_Row)) as cursor:
            await cursor.execute(SQL["endpoint"], values)
            row = await cursor.fetchone()
        return self._opened(name, row) if row else None

    def _opened(self, name: Name, row: _Row) -> Endpoint:
        owner = Owner("webhook", *name)
        secrets = [
            kept.decode() if kept.startswith(CLEAR) else str(opened_for(self._sealer, owner, kept)["secret"])
            for kept in row.secrets
        ]
        return Endpoint(row.url, row.enabled, secrets, row.version)
