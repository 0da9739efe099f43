"""A provider credential as it is kept: sealed, with org and provider inside, so that no row can pass for another."""

from collections.abc import Mapping

import msgspec

from services.runtime.errors import Unsealable
from services.runtime.sealing import Sealer

KNOWN_SECONDS = 10.0  # how long a worker uses a credential that it has read before it looks again


class _Credential(msgspec.Struct, frozen=True):
    org_id: str
    provider: str
    secret: dict[str, str]


def sealed_credential(sealer: Sealer, org_id: str, provider: str, secret: Mapping[str, str]) -> tuple[bytes, str]:
    """Return the sealed credential and its fingerprint."""
    data = msgspec.json.encode(_Credential(org_id, provider, dict(sorted(secret.items()))))
    return sealer.seal(data), sealer.fingerprint(data)


def opened_credential(sealer: Sealer, org_id: str, provider: str, sealed: bytes) -> dict[str, str]:
    """Return the secret; Unsealable where no key opens it, or it belongs to another org or provider."""
    kept = msgspec.json.decode(sealer.open(sealed), type=_Credential)
    if (kept.org_id, kept.provider) != (org_id, provider):
        raise Unsealable("it was sealed for another org or provider: save the credential again")
    return kept.secret
