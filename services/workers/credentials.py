"""Provider credentials as workers read them: from Postgres when a provider is about to be called, known for seconds."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psycopg
import psycopg_pool
from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool

from services.runtime.errors import CredentialsAway, Unsealable
from services.runtime.kept_secrets import KNOWN_SECONDS, Owner, opened_for
from services.runtime.sealing import Sealer
from services.runtime.settings import Settings
from services.runtime.sql import blocks
from services.workers.providers.protocol import ProviderError

SQL = blocks(Path(__file__).with_name("credentials.sql"))
KNOWN_CREDENTIALS = 1_000
MAX_CONNECTIONS = 2
POOL_SECONDS = 5.0
AWAY = "Postgres, where credentials are kept, does not answer"
NO_KEY = "this worker has no JOBLEDGER_CREDENTIALS_KEY to open it with"
Name = tuple[str, str]  # org_id, provider


class StoredCredentials:
    """Opens no connection before the first call of a provider that needs a credential."""

    def __init__(self, settings: Settings) -> None:
        self._sealer = Sealer(settings.credentials_key) if settings.credentials_key else None
        self._pool: AsyncConnectionPool[AsyncConnection[Any]] = AsyncConnectionPool(
            settings.postgres, min_size=0, max_size=MAX_CONNECTIONS, open=False, timeout=POOL_SECONDS
        )
        self._known: dict[Name, tuple[float, Mapping[str, str]]] = {}

    async def start(self) -> None:
        """Make ready to connect."""
        await self._pool.open()

    async def close(self) -> None:
        """Close the connections and forget everything."""
        self._known.clear()
        await self._pool.close()

    async def secret(self, org_id: str, provider: str) -> Mapping[str, str] | ProviderError:
        """Return a credential as it was at most KNOWN_SECONDS ago, or why the org has none; raises CredentialsAway."""
        name = (org_id, provider)
        until, known = self._known.get(name, (0.0, {}))
        if until > time.monotonic():
            return known
        self._known.pop(name, None)
        try:
            sealed = await self._sealed(name)
        except (psycopg.Error, psycopg_pool.PoolTimeout):
            raise CredentialsAway(AWAY) from None  # what Postgres says may quote the connection string
        if sealed is None:
            message = f"org {org_id} has no credential for {provider}: save one by POST /api/v1/credentials"
            return ProviderError("credential_missing", message)
        if self._sealer is None:
            return ProviderError("credential_unreadable", NO_KEY)
        try:
            found = opened_for(self._sealer, Owner("provider", org_id, provider), sealed)
        except Unsealable as error:
            return ProviderError("credential_unreadable", str(error))
        if len(self._known) >= KNOWN_CREDENTIALS:
            self._known.clear()
        self._known[name] = (time.monotonic() + KNOWN_SECONDS, found)
        return found

    def forget(self, org_id: str, provider: str) -> None:
        """Look it up anew the next time."""
        self._known.pop((org_id, provider), None)

    async def _sealed(self, name: Name) -> bytes | None:
        async with self._pool.connection() as connection:
            cursor = await connection.execute(SQL["credential"], {"org_id": name[0], "provider": name[1]})
            row = await cursor.fetchone()
        return bytes(row[0]) if row else None
