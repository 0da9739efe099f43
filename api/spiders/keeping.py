"""Keeps what is secret of projects and schedules: sealed, or not at all."""

from collections.abc import Mapping
from typing import Any

from api.errors import Problem
from services.runtime.kept_secrets import Owner, sealed_for
from services.runtime.sealing import Sealer


def kept_sealed(sealer: Sealer | None, owner: Owner, secret: Mapping[str, Any]) -> bytes:
    """Return a secret as it is kept, or raise the Problem that nothing can be sealed here."""
    if sealer is None:
        message = "secrets cannot be kept here: the operator has to set JOBLEDGER_CREDENTIALS_KEY"
        raise Problem("credentials_disabled", message)
    return sealed_for(sealer, owner, secret)[0]


def schedule_owner(org_id: str, schedule_id: str) -> Owner:
    """Return whose the secrets of a schedule are."""
    return Owner("schedule", org_id, schedule_id)
