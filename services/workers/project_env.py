"""The environment that runs of a Scrapy project get: sealed by the API, read by workers when a run begins."""

from services.runtime.kept_secrets import Owner, opened_for
from services.runtime.sealing import Sealer
from services.runtime.settings import Settings
from services.workers.config_rows import ConfigRows


class StoredProjectEnv:
    """Opens no connection before the first run."""

    def __init__(self, settings: Settings) -> None:
        self._sealer = Sealer(settings.credentials_key) if settings.credentials_key else None
        self._rows = ConfigRows(settings)

    async def start(self) -> None:
        """Make ready to connect."""
        await self._rows.start()

    async def close(self) -> None:
        """Close the connections."""
        await self._rows.close()

    async def of(self, org_id: str, project: str) -> dict[str, str]:
        """Return the variables that a project has now; none where it has none, or was deleted.

        Raises CredentialsAway while Postgres does not answer, Unsealable where no key of this process opens them.
        """
        sealed = await self._rows.sealed("project", {"org_id": org_id, "project": project})
        if sealed is None:
            return {}
        env: dict[str, str] = opened_for(self._sealer, Owner("project", org_id, project), sealed).get("env", {})
        return env
