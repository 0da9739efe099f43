"""A secret of an endpoint as it is kept: sealed, with org and endpoint inside, so that no row can pass for another."""

import msgspec

from services.runtime.errors import Unsealable
from services.runtime.sealing import Sealer


class _Secret(msgspec.Struct, frozen=True):
    org_id: str
    webhook_id: str
    secret: str


def sealed_secret(sealer: Sealer, org_id: str, webhook_id: str, secret: str) -> bytes:
    """Return a secret sealed for one endpoint."""
    return sealer.seal(msgspec.json.encode(_Secret(org_id, webhook_id, secret)))


def opened_secret(sealer: Sealer | None, org_id: str, webhook_id: str, sealed: bytes) -> str:
    """Return the secret; Unsealable where no key opens it, or it belongs to another endpoint."""
    if sealer is None:
        raise Unsealable("it is sealed: set JOBLEDGER_CREDENTIALS_KEY to the key of the API")
    kept = msgspec.json.decode(sealer.open(sealed), type=_Secret)
    if (kept.org_id, kept.webhook_id) != (org_id, webhook_id):
        raise Unsealable("it was sealed for another endpoint: rotate it")
    return kept.secret
