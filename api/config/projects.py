"""Scrapy projects of orgs: what they are called, and what they run with, of which the secrets are never read back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from api.config.store import Pool, one, row, rows, transaction


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
class Sealed:
    """What is sealed of a project; None: it has nothing that is."""

    sealed: bytes | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class Settings:
    """What a project is set with: everything, of its env and token only what tells that they are there."""

    repo_url: str
    repo_ref: str
    env_names: Sequence[str]
    has_token: bool
    sealed: bytes | None = field(repr=False)

    def values(self) -> Mapping[str, object]:
        """Return the arguments of the query."""
        return {name: getattr(self, name) for name in self.__slots__} | {"env_names": list(self.env_names)}


async def add(pool: Pool, org_id: str, project: str, name: str) -> tuple[Project, bool]:
    """Make a project unless the org has one of this slug; tell whether it was made now."""
    values = {"org_id": org_id, "project": project, "name": name}
    async with transaction(pool) as connection:
        made = await row(connection, Project, "add_project", values)
        return (made, True) if made else (await one(connection, Project, "project", values), False)


async def find(pool: Pool, org_id: str, project: str) -> Project | None:
    """Return a project, or None."""
    async with pool.connection() as connection:
        return await row(connection, Project, "project", {"org_id": org_id, "project": project})


async def of_orgs(pool: Pool, org_ids: Sequence[str]) -> list[Project]:
    """Return all projects of some orgs, by their slugs."""
    async with pool.connection() as connection:
        return await rows(connection, Project, "projects_of_orgs", {"org_ids": list(org_ids)})


async def sealed(pool: Pool, org_id: str, project: str) -> bytes | None:
    """Return what is sealed of a project; None where nothing is, or there is no such project."""
    async with pool.connection() as connection:
        found = await row(connection, Sealed, "sealed_of_project", {"org_id": org_id, "project": project})
        return found.sealed if found else None


async def change(pool: Pool, org_id: str, project: str, before: Project, made: Settings) -> Project | None:
    """Set a project anew; None where it is not as it was when it was read."""
    values = {**made.values(), "org_id": org_id, "project": project, "read_at": before.updated_at}
    async with pool.connection() as connection:
        return await row(connection, Project, "change_project", values)


async def delete(pool: Pool, org_id: str, project: str) -> bool:
    """Delete a project with its deploys, schedules and destinations; whether there was one."""
    async with pool.connection() as connection:
        return bool(await row(connection, Project, "delete_project", {"org_id": org_id, "project": project}))
