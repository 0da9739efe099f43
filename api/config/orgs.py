"""Orgs: registered by the operator, each on its partition of the ledger, with one internal destination."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from api.config.store import Pool, execute, row, rows, transaction

INTERNAL_DESTINATION = "internal-postgres"  # every org has it: the store behind /extraction/results


@dataclass(frozen=True, slots=True)
class Org:
    """A row of config.orgs; `registered_at` is None until the ledger has confirmed it."""

    org_id: str
    name: str
    partition: int
    plan: str
    max_in_flight: int
    max_pending: int  # 0: as the setting says
    max_queue_seconds: int  # 0: as the setting says
    retention_seconds: int  # 0: as the setting says
    paused_at: datetime | None
    created_at: datetime
    registered_at: datetime | None


@dataclass(frozen=True, slots=True)
class CallLimit:
    """How many calls a second each key of an org may make; None: as the API is set."""

    org_id: str
    calls_per_second: float | None


@dataclass(frozen=True, slots=True)
class PausedWorkflow:
    """A row of config.paused_workflows."""

    workflow_id: str
    paused_at: datetime


async def save(pool: Pool, *, org_id: str, name: str, partition: int, plan: str, max_in_flight: int) -> Org | None:
    """Write an org that the ledger will be told of, or return None where it is registered already.

    Safe to repeat until `confirm`: a registration that ended halfway is taken up again. The partition stays.
    """
    values = {"org_id": org_id, "name": name, "partition": partition, "plan": plan, "max_in_flight": max_in_flight}
    destination = {"org_id": org_id, "destination_id": INTERNAL_DESTINATION, "kind": "postgres"}
    async with transaction(pool) as connection:
        org = await row(connection, Org, "save_org", values)
        if org:
            await execute(connection, "save_destination", {**destination, "gating": True, "on_exhausted": "hold"})
        return org


async def confirm(pool: Pool, org_id: str) -> Org | None:
    """Note that the ledger knows the org; None where another call noted it first."""
    async with pool.connection() as connection:
        return await row(connection, Org, "confirm_org", {"org_id": org_id})


async def change_limits(pool: Pool, org_id: str, limits: Mapping[str, int | None]) -> Org | None:
    """Keep the limits that the ledger has recorded, for show; None: as it was."""
    async with pool.connection() as connection:
        return await row(connection, Org, "change_org_limit", {"org_id": org_id, **limits})


async def set_paused(pool: Pool, org_id: str, *, paused: bool) -> Org | None:
    """Keep for show whether the ledger has paused an org."""
    async with pool.connection() as connection:
        return await row(connection, Org, "set_org_paused", {"org_id": org_id, "paused": paused})


async def set_workflow_paused(pool: Pool, org_id: str, workflow_id: str, *, paused: bool) -> None:
    """Keep for show whether the ledger has paused a workflow."""
    async with pool.connection() as connection:
        values = {"org_id": org_id, "workflow_id": workflow_id}
        await execute(connection, "pause_workflow" if paused else "resume_workflow", values)


async def workflow_paused_at(pool: Pool, org_id: str, workflow_id: str) -> datetime | None:
    """Return since when a workflow is paused, or None."""
    async with pool.connection() as connection:
        found = await row(connection, PausedWorkflow, "workflow_pause", {"org_id": org_id, "workflow_id": workflow_id})
        return found.paused_at if found else None


async def set_calls_per_second(pool: Pool, org_id: str, calls_per_second: float | None) -> CallLimit | None:
    """Set how many calls each key of an org may make; None where no such org is registered."""
    values = {"org_id": org_id, "calls_per_second": calls_per_second}
    async with pool.connection() as connection:
        return await row(connection, CallLimit, "set_calls_per_second", values)


async def change_plan(pool: Pool, org_id: str, plan: str) -> Org | None:
    """Keep the plan that the ledger has recorded: what the org may add goes by it."""
    async with pool.connection() as connection:
        return await row(connection, Org, "change_org_plan", {"org_id": org_id, "plan": plan})


async def find(pool: Pool, org_id: str) -> Org | None:
    """Return an org, or None."""
    async with pool.connection() as connection:
        return await row(connection, Org, "org", {"org_id": org_id})


async def every(pool: Pool) -> list[Org]:
    """Return all orgs, oldest first."""
    async with pool.connection() as connection:
        return await rows(connection, Org, "orgs", {})
