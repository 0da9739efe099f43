"""Scrapy projects of orgs: what they are called, and what they run with, of which the secrets are never read back.

A project that is being deleted is not there any more, for any call but the one that deletes it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime

from api.config.store import Pool, execute, one, row, rows, transaction


@dataclass(frozen=True, slots=True)
class Project:
    """A row of config.spider_projects, without what is sealed."""

    org_id: str
    project: str
    name: str
    repo_url: str
    repo_ref: str
    env_names: list[str]
    has_token: bool
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class LockedProject(Project):
    """A project that nobody else changes meanwhile, with what is sealed of it; None: nothing is."""

    sealed: bytes | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class Settings:
    """What a project is set with; of env and token what tells that they are there, and both sealed."""

    repo_url: str
    repo_ref: str
    env_names: Sequence[str]
    has_token: bool
    sealed: bytes | None = field(repr=False)


async def add(pool: Pool, org_id: str, project: str, name: str) -> Project | None:
    """Make a project; None where the org has one of this slug already, or one is being deleted."""
    values = {"org_id": org_id, "project": project, "name": name}
    async with pool.connection() as connection:
        return await row(connection, Project, "add_project", values)


async def find(pool: Pool, org_id: str, project: str) -> Project | None:
    """Return a project, or None."""
    async with pool.connection() as connection:
        return await row(connection, Project, "project", {"org_id": org_id, "project": project})


async def of_orgs(pool: Pool, org_ids: Sequence[str]) -> list[Project]:
    """Return all projects of some orgs, by their slugs."""
    async with pool.connection() as connection:
        return await rows(connection, Project, "projects_of_orgs", {"org_ids": list(org_ids)})


async def change(pool: Pool, org_id: str, project: str, made: Callable[[LockedProject], Settings]) -> Project | None:
    """Set a project to what is made of how it is set; None where there is no such project."""
    values = {"org_id": org_id, "project": project}
    async with transaction(pool) as connection:
        found = await row(connection, LockedProject, "lock_project", values)
        if found is None:
            return None
        settings = made(found)
        new = {each.name: getattr(settings, each.name) for each in fields(settings)}
        return await one(connection, Project, "change_project", {**values, **new})


async def end(pool: Pool, org_id: str, project: str) -> bool:
    """Let nothing be submitted of a project any more; whether there is one. Safe to repeat until it is deleted."""
    async with pool.connection() as connection:
        return bool(await row(connection, Project, "end_project", {"org_id": org_id, "project": project}))


async def delete(pool: Pool, org_id: str, project: str) -> None:
    """Delete a project with its deploys, schedules and destinations."""
    async with pool.connection() as connection:
        await execute(connection, "delete_project", {"org_id": org_id, "project": project})
