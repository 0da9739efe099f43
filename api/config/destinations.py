"""Destinations: where the extractions of an org go, webhooks included; frozen into each job when it is submitted."""

from dataclasses import dataclass

from api.config import webhooks
from api.config.store import Pool, rows
from schemas.values import Destination, OnExhausted


@dataclass(frozen=True, slots=True)
class _Row:
    destination_id: str
    kind: str
    gating: bool
    on_exhausted: str


async def enabled(pool: Pool, org_id: str) -> tuple[Destination, ...]:
    """Return the destinations that a job submitted now gets."""
    async with pool.connection() as connection:
        found = await rows(connection, _Row, "destinations_of_org", {"org_id": org_id})
    stores = (
        Destination(
            destination_id=row.destination_id,
            kind=row.kind,
            gating=row.gating,
            on_exhausted=OnExhausted(row.on_exhausted),
        )
        for row in found
    )
    endpoints = (webhook for webhook in await webhooks.every(pool, org_id) if webhook.enabled)
    return (*stores, *(destination for webhook in endpoints for destination in webhook.destinations()))
