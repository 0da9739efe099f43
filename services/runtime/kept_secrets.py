"""Secrets as they are kept: sealed in one way, with their owner inside, so that no row can pass for another."""

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from services.runtime.errors import Unsealable
from services.runtime.sealing import Sealer

KNOWN_SECONDS = 10.0  # how long a worker uses a credential that it has read before it looks again
NO_KEY = "it is sealed, and this process has no JOBLEDGER_CREDENTIALS_KEY: set it to the key of the API"


class Owner(msgspec.Struct, frozen=True):
    """Whose secret it is."""

    of: Literal["provider", "webhook", "warehouse", "project", "schedule"]
    org_id: str
    name: str  # of the provider, the endpoint, the destination, the project or the schedule


class _Kept(msgspec.Struct, frozen=True):
    owner: Owner
    secret: dict[str, Any]


def sealed_for(sealer: Sealer, owner: Owner, secret: Mapping[str, Any]) -> tuple[bytes, str]:
    """Return a sealed secret and its fingerprint."""
    data = msgspec.json.encode(_Kept(owner, dict(sorted(secret.items()))))
    return sealer.seal(data), sealer.fingerprint(data)


def opened_for(sealer: Sealer | None, owner: Owner, sealed: bytes) -> dict[str, Any]:
    """Return a secret; Unsealable where no key opens it, or it belongs to another owner."""
    if sealer is None:
        raise Unsealable(NO_KEY)
    kept = _read(sealer.open(bytes(sealed)))
    if kept.owner != owner:
        raise Unsealable(f"it was sealed for another {owner.of}, or for another org: give the secret again")
    return kept.secret


def _read(data: bytes) -> _Kept:
    try:
        return msgspec.json.decode(data, type=_Kept)
    except msgspec.ValidationError:
        return _former(msgspec.json.decode(data))


def _former(kept: Any) -> _Kept:
    """Return what was sealed before all were sealed in one way."""
    match kept:
        case {"org_id": str(org_id), "provider": str(name), "secret": dict(secret)}:
            return _Kept(Owner("provider", org_id, name), secret)
        case {"org_id": str(org_id), "webhook_id": str(name), "secret": str(text)}:
            return _Kept(Owner("webhook", org_id, name), {"secret": text})
        case {"org_id": str(org_id), "destination_id": str(name), "secrets": dict(secrets)}:
            return _Kept(Owner("warehouse", org_id, name), secrets)
    raise Unsealable("what was sealed is no secret that this version knows: give the secret again")
