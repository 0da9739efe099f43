"""Secrets of a destination as they are kept: sealed with org and destination inside, so no row passes for another."""

from collections.abc import Mapping
from typing import Any

import msgspec

from services.runtime.errors import Unsealable
from services.runtime.networks import Networks
from services.runtime.sealing import Sealer
from services.writers.warehouses.kinds import Kind, Opening

NO_KEY = "this process has no JOBLEDGER_CREDENTIALS_KEY to open the secrets of destinations with"


class _Secrets(msgspec.Struct, frozen=True):
    org_id: str
    destination_id: str
    secrets: dict[str, Any]


def sealed_secrets(sealer: Sealer, name: tuple[str, str], secrets: Mapping[str, Any]) -> tuple[bytes, str]:
    """Return sealed secrets and their fingerprint."""
    data = msgspec.json.encode(_Secrets(*name, dict(sorted(secrets.items()))))
    return sealer.seal(data), sealer.fingerprint(data)


def opening_of(
    kind: Kind,
    sealer: Sealer | None,
    name: tuple[str, str],
    settings: Mapping[str, Any],
    sealed: bytes | None,
    *,
    allowed: Networks,
) -> Opening:
    """Return what the table of a destination is opened with; raise SettingsFault or Unsealable."""
    secrets = kind.read_secrets(opened_secrets(sealer, name, sealed))
    return Opening(kind.read_settings(settings), secrets, allowed)


def opened_secrets(sealer: Sealer | None, name: tuple[str, str], sealed: bytes | None) -> dict[str, Any]:
    """Return secrets; Unsealable where no key opens them, or they belong to another org or destination."""
    if sealed is None:
        return {}
    if sealer is None:
        raise Unsealable(NO_KEY)
    kept = msgspec.json.decode(sealer.open(bytes(sealed)), type=_Secrets)
    if (kept.org_id, kept.destination_id) != name:
        raise Unsealable("it was sealed for another org or destination: give its secrets again")
    return kept.secrets
