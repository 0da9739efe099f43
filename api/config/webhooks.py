"""Webhook endpoints of an org; each becomes up to three destinations of a job that is submitted now."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from api.config.store import Pool, execute, one, row, rows, transaction
from schemas.values import After, Destination, OnExhausted
from services.runtime.ids import uuid7
from services.runtime.kept_secrets import Owner, sealed_for
from services.runtime.sealing import Sealer
from services.writers.webhook.signing import new_secret

MAX_WEBHOOKS = 10  # of an org: each job carries them all
OVERLAP = timedelta(hours=24)  # how long the former secret signs beside the new one
AFTER = {"job.completed": After.COMPLETED, "job.failed": After.FAILED}


@dataclass(frozen=True, slots=True)
class Webhook:
    """A row of config.webhooks."""

    webhook_id: str
    url: str
    event_types: list[str]
    gating: bool
    on_exhausted: str
    gate_seconds: int
    enabled: bool
    disabled_reason: str | None
    disabled_at: datetime | None
    created_at: datetime
    updated_at: datetime

    def destinations(self) -> Iterator[Destination]:
        """Yield the data delivery, and a notice for each event type subscribed to; notices never gate."""
        yield Destination(
            destination_id=self.webhook_id,
            kind="webhook",
            gating=self.gating,
            on_exhausted=OnExhausted(self.on_exhausted),
            gate_seconds=self.gate_seconds,
        )
        for event_type in self.event_types:
            name = notice_id(self.webhook_id, event_type)
            yield Destination(destination_id=name, kind="webhook", gating=False, after=AFTER[event_type])


@dataclass(frozen=True, slots=True)
class _Count:
    number: int


@dataclass(frozen=True, slots=True)
class _Expiry:
    expires_at: datetime


def sealed_secret(sealer: Sealer, org_id: str, webhook_id: str, secret: str) -> bytes:
    """Return a secret sealed for one endpoint."""
    return sealed_for(sealer, Owner("webhook", org_id, webhook_id), {"secret": secret})[0]


def notice_id(webhook_id: str, event_type: str) -> str:
    """Return the destination id of an endpoint's notices of one type."""
    return f"{webhook_id}:{event_type}"


async def create(
    pool: Pool,
    sealer: Sealer,
    org_id: str,
    *,
    url: str,
    event_types: Sequence[str],
    gating: bool,
    enabled: bool,
    on_exhausted: str = "hold",
    gate_seconds: int = 0,
) -> tuple[Webhook, str] | None:
    """Make an endpoint and return it with its secret, which is nowhere to be had later; None: there are too many."""
    name = {"org_id": org_id, "webhook_id": f"wh-{uuid7()}"}
    secret = new_secret()
    async with transaction(pool) as connection:
        await execute(connection, "lock_webhooks", name)
        if (await one(connection, _Count, "count_webhooks", name)).number >= MAX_WEBHOOKS:
            return None
        policy = {"gating": gating, "on_exhausted": on_exhausted, "gate_seconds": gate_seconds}
        values = {**name, **policy, "url": url, "event_types": list(event_types), "enabled": enabled}
        webhook = await one(connection, Webhook, "save_webhook", values)
        await execute(
            connection, "save_secret", {**name, "sealed": sealed_secret(sealer, org_id, name["webhook_id"], secret)}
        )
    return webhook, secret


async def every(pool: Pool, org_id: str) -> list[Webhook]:
    """Return the endpoints of an org, oldest first."""
    async with pool.connection() as connection:
        return await rows(connection, Webhook, "webhooks_of_org", {"org_id": org_id})


async def find(pool: Pool, org_id: str, webhook_id: str) -> Webhook | None:
    """Return an endpoint, or None."""
    name = {"org_id": org_id, "webhook_id": webhook_id}
    async with pool.connection() as connection:
        return await row(connection, Webhook, "webhook", name)


async def change(
    pool: Pool,
    org_id: str,
    webhook_id: str,
    *,
    url: str | None,
    event_types: Sequence[str] | None,
    gating: bool | None,
    enabled: bool | None,
    on_exhausted: str | None = None,
    gate_seconds: int | None = None,
) -> Webhook | None:
    """Change what is given; None where there is no such endpoint."""
    policy = {"gating": gating, "on_exhausted": on_exhausted, "gate_seconds": gate_seconds}
    values = {"org_id": org_id, "webhook_id": webhook_id, **policy, "url": url, "enabled": enabled}
    types = None if event_types is None else list(event_types)
    async with pool.connection() as connection:
        return await row(connection, Webhook, "change_webhook", {**values, "event_types": types})


async def delete(pool: Pool, org_id: str, webhook_id: str) -> Webhook | None:
    """Delete an endpoint, its secrets and what it answered; None where there is no such endpoint."""
    name = {"org_id": org_id, "webhook_id": webhook_id}
    async with transaction(pool) as connection:
        await execute(connection, "forget_attempts", name)
        return await row(connection, Webhook, "delete_webhook", name)


async def rotate(pool: Pool, sealer: Sealer, org_id: str, webhook_id: str) -> tuple[str, datetime] | None:
    """Return a new secret and when the former one ends; secrets before that one end at once."""
    name = {"org_id": org_id, "webhook_id": webhook_id}
    secret = new_secret()
    async with transaction(pool) as connection:
        await execute(connection, "lock_webhooks", name)
        await execute(connection, "drop_former_secrets", name)
        former = await row(connection, _Expiry, "retire_secret", {**name, "overlap": OVERLAP})
        if former is None:
            return None
        await execute(
            connection, "save_secret", {**name, "sealed": sealed_secret(sealer, org_id, name["webhook_id"], secret)}
        )
    return secret, former.expires_at
