"""What an org signs in with at providers: written, replaced and deleted here, and never read back."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from api.config.store import Pool, one, row, rows
from services.runtime.kept_secrets import Owner, sealed_for
from services.runtime.sealing import Sealer


@dataclass(frozen=True, slots=True)
class Credential:
    """A row of config.provider_credentials, without what is sealed."""

    provider: str
    label: str
    fingerprint: str
    created_at: datetime
    updated_at: datetime

    @property
    def replaced(self) -> bool:
        """Whether there was one before."""
        return self.updated_at > self.created_at


async def save(
    pool: Pool, sealer: Sealer, org_id: str, provider: str, label: str, secret: Mapping[str, str]
) -> Credential:
    """Save a credential, in place of the one that the org has for this provider."""
    sealed, fingerprint = sealed_for(sealer, Owner("provider", org_id, provider), secret)
    name = {"org_id": org_id, "provider": provider}
    values = {**name, "label": label, "sealed": sealed, "fingerprint": fingerprint}
    async with pool.connection() as connection:
        return await one(connection, Credential, "save_credential", values)


async def every(pool: Pool, org_id: str) -> list[Credential]:
    """Return the credentials of an org, by provider."""
    async with pool.connection() as connection:
        return await rows(connection, Credential, "credentials_of_org", {"org_id": org_id})


async def delete(pool: Pool, org_id: str, provider: str) -> Credential | None:
    """Delete a credential; None where the org has none for this provider."""
    async with pool.connection() as connection:
        return await row(connection, Credential, "delete_credential", {"org_id": org_id, "provider": provider})
