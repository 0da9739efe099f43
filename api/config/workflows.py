"""Workflows: versions written once, of which one may be published; only that one runs."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from api.config.store import Pool, execute, one, row, rows, transaction


@dataclass(frozen=True, slots=True)
class Version:
    """A row of config.workflows."""

    workflow_id: str
    version: int
    state: str
    document: dict[str, Any]
    ref: str
    created_at: datetime
    published_at: datetime | None


@dataclass(frozen=True, slots=True)
class Runnable:
    """What a job needs to know of the version that it will run for life."""

    workflow_id: str
    version: int
    ref: str


async def save(pool: Pool, org_id: str, workflow_id: str, document: dict[str, Any], ref: str) -> tuple[Version, bool]:
    """Write the next version and whether it is new: what the newest version says already makes no other."""
    name = {"org_id": org_id, "workflow_id": workflow_id}
    async with transaction(pool) as connection:
        await execute(connection, "lock_workflow", name)
        newest = await row(connection, Version, "newest_version", name)
        if newest and newest.ref == ref:
            return newest, False
        number = newest.version + 1 if newest else 1
        values = {**name, "version": number, "document": Jsonb(document), "ref": ref}
        return await one(connection, Version, "save_version", values), True


async def publish(pool: Pool, org_id: str, workflow_id: str, version: int | None) -> Version | None:
    """Let a version (None: the newest) be the one that runs; None where there is no such version. Safe to repeat."""
    name = {"org_id": org_id, "workflow_id": workflow_id}
    async with transaction(pool) as connection:
        await execute(connection, "lock_workflow", name)
        if version is None:
            newest = await row(connection, Version, "newest_version", name)
            version = newest.version if newest else 0
        chosen = {**name, "version": version}
        if await row(connection, Version, "version", chosen) is None:
            return None
        await execute(connection, "withdraw_others", chosen)
        await execute(connection, "publish_version", chosen)
        return await row(connection, Version, "version", chosen)


async def every(pool: Pool, org_id: str) -> list[Version]:
    """Return each workflow of an org as its published version, or else its newest one."""
    async with pool.connection() as connection:
        return await rows(connection, Version, "workflows_of_org", {"org_id": org_id})


async def versions(pool: Pool, org_id: str, workflow_id: str) -> list[Version]:
    """Return all versions of a workflow, newest first; empty where there is none."""
    async with pool.connection() as connection:
        return await rows(connection, Version, "versions_of_workflow", {"org_id": org_id, "workflow_id": workflow_id})


async def runnable(pool: Pool, org_id: str, workflow_id: str | None) -> list[Runnable]:
    """Return the published version of a workflow; for None up to two of those that the org has published."""
    async with pool.connection() as connection:
        return await rows(connection, Runnable, "runnable", {"org_id": org_id, "workflow_id": workflow_id})
