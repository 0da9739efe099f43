"""What was deployed of Scrapy projects: versions of their archives, each written once and counted from 1."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from api.config.projects import LockedProject
from api.config.store import Pool, execute, one, row, rows, transaction

MOST = 100  # versions of a project, where nobody says otherwise


@dataclass(frozen=True, slots=True)
class Deploy:
    """A row of config.spider_deploys."""

    org_id: str
    project: str
    version: int
    archive_ref: str  # blob key
    digest: str  # SHA-256 of the archive, in hex
    archive_bytes: int
    spiders: list[str]
    source: str
    notes: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Archive:
    """An archive that was looked through and is in the blob store."""

    ref: str
    digest: str
    size: int  # bytes
    spiders: Sequence[str]


async def _kept() -> None:
    """Nothing is to be kept."""


async def add(
    pool: Pool,
    org_id: str,
    project: str,
    archive: Archive,
    source: str,
    notes: str,
    *,
    keep: Callable[[], Awaitable[None]] = _kept,
    most: int = MOST,
) -> tuple[Deploy, bool] | None:
    """Make the next version of a project, and tell whether it was made now; None where there is no such project.

    `keep` stores its archive, which nobody removes meanwhile. Versions before the newest `most` go, but those that a
    schedule has pinned.

    The archive of the newest version is not deployed again: that version is returned. One of an older version is: what
    was deployed last is what runs.
    """
    name = {"org_id": org_id, "project": project}
    async with transaction(pool) as connection:
        await execute(connection, "hold_archive", {"ref": archive.ref})
        if await row(connection, LockedProject, "lock_project", name) is None:
            return None
        newest = await row(connection, Deploy, "newest_deploy", name)
        if newest and newest.digest == archive.digest:
            await keep()
            return newest, False
        values = {
            **name,
            "version": newest.version + 1 if newest else 1,
            "archive_ref": archive.ref,
            "digest": archive.digest,
            "archive_bytes": archive.size,
            "spiders": list(archive.spiders),
            "source": source,
            "notes": notes,
        }
        await keep()
        made = await one(connection, Deploy, "add_deploy", values)
        await execute(connection, "drop_deploys", {**name, "most": most})
        return made, True


async def find(pool: Pool, org_id: str, project: str, version: int | None = None) -> Deploy | None:
    """Return a version of a project, None: the latest; or None where there is no such version, project or org."""
    name = {"org_id": org_id, "project": project}
    async with pool.connection() as connection:
        if version is None:
            return await row(connection, Deploy, "newest_deploy", name)
        return await row(connection, Deploy, "deploy", {**name, "version": version})


async def of_project(pool: Pool, org_id: str, project: str) -> list[Deploy]:
    """Return the versions of a project, newest first."""
    async with pool.connection() as connection:
        return await rows(connection, Deploy, "deploys_of_project", {"org_id": org_id, "project": project})
