"""Destinations: where the extractions of an org go, webhooks included; frozen into each job when it is submitted.

What a customer's warehouse is set up with is not: deliveries go where it says when they go out.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from psycopg.types.json import Jsonb

from api.config import webhooks
from api.config.store import Pool, row, rows
from schemas.values import Destination, OnExhausted


@dataclass(frozen=True, slots=True)
class Secrets:
    """Secrets of a destination as they are kept."""

    sealed: bytes = field(repr=False)
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Stored:
    """A row of config.destinations."""

    destination_id: str
    kind: str
    gating: bool
    on_exhausted: str
    gate_seconds: int
    enabled: bool
    settings: dict[str, Any]
    sealed: bytes | None = field(repr=False)
    fingerprint: str

    @property
    def destination(self) -> Destination:
        """What a job that is submitted now gets of it."""
        return Destination(
            destination_id=self.destination_id,
            kind=self.kind,
            gating=self.gating,
            on_exhausted=OnExhausted(self.on_exhausted),
            gate_seconds=self.gate_seconds,
        )

    def is_as(self, wanted: Destination, settings: Mapping[str, Any], secrets: Secrets | None) -> bool:
        """Whether it is what somebody wants to add; of secrets their fingerprints are compared."""
        print_of = secrets.fingerprint if secrets else ""
        return (self.destination, self.settings, self.fingerprint) == (wanted, dict(settings), print_of)


async def enabled(pool: Pool, org_id: str) -> tuple[Destination, ...]:
    """Return the destinations that a job submitted now gets."""
    endpoints = (webhook for webhook in await webhooks.every(pool, org_id) if webhook.enabled)
    return (
        *(each.destination for each in await stores(pool, org_id) if each.enabled),
        *(destination for webhook in endpoints for destination in webhook.destinations()),
    )


async def stores(pool: Pool, org_id: str) -> list[Stored]:
    """Return the destinations that are stores, disabled ones included: all but webhooks."""
    async with pool.connection() as connection:
        return await rows(connection, Stored, "destinations_of_org", {"org_id": org_id})


async def find(pool: Pool, org_id: str, destination_id: str) -> Stored | None:
    """Return one of these, or None."""
    return next((each for each in await stores(pool, org_id) if each.destination_id == destination_id), None)


async def add(
    pool: Pool, org_id: str, wanted: Destination, settings: Mapping[str, Any], secrets: Secrets | None
) -> Stored | None:
    """Let jobs submitted from now on go to a destination too; None where the org has another one of that id."""
    values = {
        "org_id": org_id,
        "destination_id": wanted.destination_id,
        "kind": wanted.kind,
        "gating": wanted.gating,
        "on_exhausted": wanted.on_exhausted.value,
        "gate_seconds": wanted.gate_seconds,
        "settings": Jsonb(dict(settings)),
        "sealed": secrets.sealed if secrets else None,
        "fingerprint": secrets.fingerprint if secrets else "",
    }
    async with pool.connection() as connection:
        made = await row(connection, Stored, "add_destination", values)
    there = made or await find(pool, org_id, wanted.destination_id)
    return there if there and there.is_as(wanted, settings, secrets) else None


async def change(
    pool: Pool,
    org_id: str,
    destination_id: str,
    changes: Mapping[str, bool | str | int | None],
    settings: Mapping[str, Any] | None,
    secrets: Secrets | None,
) -> Stored | None:
    """Change what is given of gating, on_exhausted, gate_seconds and enabled, and settings and secrets.

    None where there is no such destination, or it is the internal one.
    """
    values = {
        "org_id": org_id,
        "destination_id": destination_id,
        **changes,
        "settings": None if settings is None else Jsonb(dict(settings)),
        "sealed": secrets.sealed if secrets else None,
        "fingerprint": secrets.fingerprint if secrets else None,
    }
    async with pool.connection() as connection:
        return await row(connection, Stored, "change_destination", values)


async def remove(pool: Pool, org_id: str, destination_id: str) -> Stored | None:
    """Take a destination away from jobs submitted from now on; None where there is none, or it is the internal one."""
    async with pool.connection() as connection:
        values = {"org_id": org_id, "destination_id": destination_id}
        return await row(connection, Stored, "remove_destination", values)
