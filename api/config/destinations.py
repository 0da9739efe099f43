"""Destinations: where the extractions of an org go, webhooks included; frozen into each job when it is submitted."""

from dataclasses import dataclass

from msgspec.structs import asdict

from api.config import webhooks
from api.config.store import Pool, row, rows
from schemas.values import Destination, OnExhausted


@dataclass(frozen=True, slots=True)
class _Row:
    destination_id: str
    kind: str
    gating: bool
    on_exhausted: str
    gate_seconds: int


async def enabled(pool: Pool, org_id: str) -> tuple[Destination, ...]:
    """Return the destinations that a job submitted now gets."""
    endpoints = (webhook for webhook in await webhooks.every(pool, org_id) if webhook.enabled)
    return (
        *await stores(pool, org_id),
        *(destination for webhook in endpoints for destination in webhook.destinations()),
    )


async def stores(pool: Pool, org_id: str) -> tuple[Destination, ...]:
    """Return the destinations that are stores: all but webhooks."""
    async with pool.connection() as connection:
        found = await rows(connection, _Row, "destinations_of_org", {"org_id": org_id})
    return tuple(map(_destination, found))


async def add(pool: Pool, org_id: str, destination: Destination) -> Destination | None:
    """Let jobs submitted from now on go to a destination too; None where the org has another one of that id."""
    async with pool.connection() as connection:
        made = await row(connection, _Row, "add_destination", {"org_id": org_id, **asdict(destination)})
    return destination if made or destination in await stores(pool, org_id) else None


async def change(
    pool: Pool,
    org_id: str,
    destination_id: str,
    *,
    gating: bool | None,
    on_exhausted: str | None,
    gate_seconds: int | None,
) -> Destination | None:
    """Change a destination for jobs submitted from now on; None where there is none, or it is the internal one."""
    values = {"org_id": org_id, "destination_id": destination_id, "gating": gating}
    async with pool.connection() as connection:
        changed = await row(
            connection,
            _Row,
            "change_destination",
            {**values, "on_exhausted": on_exhausted, "gate_seconds": gate_seconds},
        )
    return _destination(changed) if changed else None


async def remove(pool: Pool, org_id: str, destination_id: str) -> Destination | None:
    """Take a destination away from jobs submitted from now on; None where there is none, or it is the internal one."""
    async with pool.connection() as connection:
        values = {"org_id": org_id, "destination_id": destination_id}
        removed = await row(connection, _Row, "remove_destination", values)
    return _destination(removed) if removed else None


def _destination(row: _Row) -> Destination:
    return Destination(
        destination_id=row.destination_id,
        kind=row.kind,
        gating=row.gating,
        on_exhausted=OnExhausted(row.on_exhausted),
        gate_seconds=row.gate_seconds,
    )
