"""Provider credentials as workers read them: from Postgres when a provider is about to be called, known for seconds."""

import time
from collections.abc import Mapping

from services.runtime.errors import Unsealable
from services.runtime.kept_secrets import KNOWN_SECONDS, Owner, opened_for
from services.runtime.sealing import Sealer
from services.runtime.settings import Settings
from services.workers.config_rows import ConfigRows
from services.workers.providers.protocol import ProviderError

KNOWN_CREDENTIALS = 1_000
NO_KEY = "this worker has no JOBLEDGER_CREDENTIALS_KEY to open it with"
Name = tuple[str, str]  # org_id, provider


class StoredCredentials:
    """Opens no connection before the first call of a provider that needs a credential."""

    def __init__(self, settings: Settings) -> None:
        self._sealer = Sealer(settings.credentials_key) if settings.credentials_key else None
        self._rows = ConfigRows(settings)
        self._known: dict[Name, tuple[float, Mapping[str, str]]] = {}

    async def start(self) -> None:
        """Make ready to connect."""
        await self._rows.start()

    async def close(self) -> None:
        """Close the connections and forget everything."""
        self._known.clear()
        await self._rows.close()

    async def secret(self, org_id: str, provider: str) -> Mapping[str, str] | ProviderError:
        """Return a credential as it was at most KNOWN_SECONDS ago, or why the org has none; raises CredentialsAway."""
        name = (org_id, provider)
        until, known = self._known.get(name, (0.0, {}))
        if until > time.monotonic():
            return known
        self._known.pop(name, None)
        sealed = await self._rows.sealed("credential", {"org_id": org_id, "provider": provider})
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
