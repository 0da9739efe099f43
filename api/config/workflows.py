"""Workflows: versions written once, of which one may be published; only that one runs, and its routes are its org's.

RouteTaken       another published workflow of the org has the route
VersionChanged   the workflow is not as the caller expects it to be
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg import AsyncConnection
from psycopg.types.json import Jsonb

from api.config.store import Pool, execute, one, row, rows, transaction
from api.urls import route_form

Expected = Callable[[int], bool]  # of the newest version, 0: there is none


@dataclass(frozen=True, slots=True)
class Line:
    """A version without its document, which may take a mebibyte."""

    workflow_id: str
    version: int
    state: str
    created_at: datetime
    published_at: datetime | None


@dataclass(frozen=True, slots=True)
class Version(Line):
    """A row of config.workflows."""

    document: dict[str, Any]
    ref: str


@dataclass(frozen=True, slots=True)
class Runnable:
    """What a job needs to know of the version that it will run for life."""

    workflow_id: str
    version: int
    ref: str


@dataclass(frozen=True, slots=True)
class _Number:
    number: int


@dataclass(frozen=True, slots=True)
class _Taken:
    route: str
    workflow_id: str


@dataclass(frozen=True, slots=True)
class _Routed:
    route: str
    workflow_id: str
    version: int
    ref: str


class RouteTaken(Exception):
    """Another published workflow of the org has the route."""

    def __init__(self, route: str, workflow_id: str) -> None:
        super().__init__(f"{workflow_id} has the route {route}")
        self.route, self.workflow_id = route, workflow_id


class VersionChanged(Exception):
    """The workflow is not as the caller expects it to be; `newest` is its newest version, 0: there is none."""

    def __init__(self, newest: int) -> None:
        super().__init__(f"version {newest} is the newest")
        self.newest = newest


def anything(_newest: int) -> bool:
    """Expect nothing."""
    return True


async def save(
    pool: Pool,
    org_id: str,
    workflow_id: str,
    document: dict[str, Any],
    ref: str,
    *,
    publish: bool = False,
    expected: Expected = anything,
) -> tuple[Version, bool]:
    """Write the next version and whether it is new: what the newest version says already makes no other.

    With `publish` it is published too, or, where RouteTaken is raised, not even saved.
    """
    name = {"org_id": org_id, "workflow_id": workflow_id}
    async with transaction(pool) as connection:
        newest = await _newest(connection, name, expected)
        saved, new = newest, False
        if saved is None or saved.ref != ref:
            last = await one(connection, _Number, "last_version", name)
            values = {**name, "version": last.number + 1, "document": Jsonb(document), "ref": ref}
            saved, new = await one(connection, Version, "save_version", values), True
        return await _published(connection, name, saved) if publish else saved, new


async def publish(
    pool: Pool, org_id: str, workflow_id: str, version: int | None, expected: Expected = anything
) -> Version | None:
    """Let a version (None: the newest) be the one that runs; return it, None where there is none.

    All at once: from one moment to the next it runs and has its routes. Safe to repeat.
    """
    name = {"org_id": org_id, "workflow_id": workflow_id}
    async with transaction(pool) as connection:
        newest = await _newest(connection, name, expected)
        if newest is None:
            return None
        number = newest.version if version is None else version
        chosen = await row(connection, Version, "version", {**name, "version": number})
        return None if chosen is None else await _published(connection, name, chosen)


async def unpublish(pool: Pool, org_id: str, workflow_id: str, expected: Expected = anything) -> Version | None:
    """Let no version run; return the newest, None where there is no such workflow. Safe to repeat."""
    name = {"org_id": org_id, "workflow_id": workflow_id}
    async with transaction(pool) as connection:
        if await _newest(connection, name, expected) is None:
            return None
        await execute(connection, "withdraw_version", name)
        await execute(connection, "free_routes", name)
        return await row(connection, Version, "newest_version", name)


async def delete(pool: Pool, org_id: str, workflow_id: str, expected: Expected = anything) -> bool:
    """Delete a workflow with all its versions; whether there was one."""
    name = {"org_id": org_id, "workflow_id": workflow_id}
    async with transaction(pool) as connection:
        newest = await _newest(connection, name, expected)
        if newest is None:
            return False
        await execute(connection, "free_routes", name)
        await execute(connection, "remember_former", {**name, "version": newest.version})
        await execute(connection, "delete_workflow", name)
        return True


async def every(pool: Pool, org_id: str) -> list[Version]:
    """Return each workflow of an org as its published version, or else its newest one."""
    async with pool.connection() as connection:
        return await rows(connection, Version, "workflows_of_org", {"org_id": org_id})


async def versions(pool: Pool, org_id: str, workflow_id: str) -> list[Line]:
    """Return all versions of a workflow, newest first; empty where there is none."""
    async with pool.connection() as connection:
        return await rows(connection, Line, "versions_of_workflow", {"org_id": org_id, "workflow_id": workflow_id})


async def version(pool: Pool, org_id: str, workflow_id: str, number: int) -> Version | None:
    """Return one version."""
    values = {"org_id": org_id, "workflow_id": workflow_id, "version": number}
    async with pool.connection() as connection:
        return await row(connection, Version, "version", values)


async def runnable(pool: Pool, org_id: str, workflow_id: str) -> Runnable | None:
    """Return the published version of a workflow."""
    async with pool.connection() as connection:
        return await row(connection, Runnable, "runnable", {"org_id": org_id, "workflow_id": workflow_id})


async def routed(pool: Pool, org_id: str, routes: Sequence[str]) -> dict[str, Runnable]:
    """Return what takes the jobs of each of these routes that some published workflow has."""
    async with pool.connection() as connection:
        found = await rows(connection, _Routed, "routed", {"org_id": org_id, "routes": list(routes)})
    return {each.route: Runnable(each.workflow_id, each.version, each.ref) for each in found}


async def only_published(pool: Pool, org_id: str) -> Runnable | None:
    """Return the published version of an org that has one workflow published, and no route at all."""
    async with pool.connection() as connection:
        found = await rows(connection, Runnable, "only_published", {"org_id": org_id})
    return found[0] if len(found) == 1 else None


async def _newest(connection: AsyncConnection[Any], name: dict[str, str], expected: Expected) -> Version | None:
    """Return the newest version, locked against every other change, or raise VersionChanged."""
    await execute(connection, "lock_workflow", name)
    newest = await row(connection, Version, "newest_version", name)
    if not expected(newest.version if newest else 0):
        raise VersionChanged(newest.version if newest else 0)
    return newest


async def _published(connection: AsyncConnection[Any], name: dict[str, str], chosen: Version) -> Version:
    routes = sorted({form for route in chosen.document.get("routes", ()) if (form := route_form(route))})
    await execute(connection, "lock_routes", name)
    taken = await row(connection, _Taken, "routes_of_others", {**name, "routes": routes})
    if taken is not None:
        raise RouteTaken(taken.route, taken.workflow_id)
    values = {**name, "version": chosen.version}
    await execute(connection, "withdraw_others", values)
    await execute(connection, "publish_version", values)
    await execute(connection, "free_routes", name)
    await execute(connection, "take_routes", {**name, "routes": routes})
    return await one(connection, Version, "version", values)
