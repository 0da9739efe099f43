"""What the table of a destination is opened with: its settings as they are, its secrets as they were sealed."""

from collections.abc import Mapping
from typing import Any

from services.runtime.kept_secrets import Owner, opened_for
from services.runtime.networks import Networks
from services.runtime.sealing import Sealer
from services.writers.warehouses.kinds import Kind, Opening


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
    given = {} if sealed is None else opened_for(sealer, Owner("warehouse", *name), sealed)
    secrets = kind.read_secrets(given)
    return Opening(kind.read_settings(settings), secrets, allowed)
