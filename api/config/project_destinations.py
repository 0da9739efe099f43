"""Destinations of Scrapy projects: where the items of their jobs go. Each has a number, and gates nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace
from psycopg.types.json import Jsonb

from api.config import webhooks
from api.config.destinations import Secrets, Stored
from api.config.schedules import OfOrg
from api.config.store import Pool, one, row, rows
from schemas.values import Destination


@dataclass(frozen=True, slots=True)
class ProjectDestination:
    """A row of config.destinations that belongs to a project, without what is sealed."""

    number: int
    org_id: str
    project: str
    name: str
    destination_id: str  # as jobs and deliveries name it
    kind: str
    enabled: bool
    settings: dict[str, Any]
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Wanted:
    """A destination to be added."""

    destination_id: str
    name: str
    kind: str
    enabled: bool
    settings: Mapping[str, Any]
    secrets: Secrets | None


async def enabled(pool: Pool, org_id: str, project: str) -> tuple[Destination, ...]:
    """Return the destinations that a job of the project that is submitted now gets: its own, and the org's webhooks."""
    values = {"org_id": org_id, "project": project}
    async with pool.connection() as connection:
        found = await rows(connection, Stored, "enabled_destinations_of_project", values)
    endpoints = [webhook for webhook in await webhooks.every(pool, org_id) if webhook.enabled]
    told = [destination for webhook in endpoints for destination in webhook.destinations()]
    return tuple(replace(each, gating=False) for each in (*(each.destination for each in found), *told))


async def add(pool: Pool, org_id: str, project: str, wanted: Wanted) -> ProjectDestination:
    """Let the items of jobs that are submitted from now on go to a destination; the project has to be there."""
    values = {
        "org_id": org_id,
        "project": project,
        "name": wanted.name,
        "destination_id": wanted.destination_id,
        "kind": wanted.kind,
        "enabled": wanted.enabled,
        "settings": Jsonb(dict(wanted.settings)),
        "sealed": wanted.secrets.sealed if wanted.secrets else None,
        "fingerprint": wanted.secrets.fingerprint if wanted.secrets else "",
    }
    async with pool.connection() as connection:
        return await one(connection, ProjectDestination, "add_project_destination", values)


async def of_projects(pool: Pool, org_ids: Sequence[str], project: str | None) -> list[ProjectDestination]:
    """Return the destinations of all projects of some orgs, or of one project, by their numbers."""
    async with pool.connection() as connection:
        values = {"org_ids": list(org_ids), "project": project}
        return await rows(connection, ProjectDestination, "destinations_of_projects", values)


async def remove(pool: Pool, org_id: str, number: int) -> ProjectDestination | None:
    """Take a destination away from jobs submitted from now on; None where the org has none of this number."""
    async with pool.connection() as connection:
        values = {"org_id": org_id, "number": number}
        return await row(connection, ProjectDestination, "remove_project_destination", values)


async def org_of(pool: Pool, number: int) -> str | None:
    """Return which org has a destination of a project: for the operator, who sees those of all."""
    async with pool.connection() as connection:
        found = await row(connection, OfOrg, "org_of_destination", {"number": number})
        return found.org_id if found else None
