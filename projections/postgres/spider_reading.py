"""The queries of the API about spider jobs: one, lists of them, and what came of each spider of a project."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct
from psycopg import AsyncConnection, sql
from psycopg.rows import class_row, scalar_row
from psycopg_pool import AsyncConnectionPool

from projections.postgres import spider_listing
from projections.postgres.following import Version, on_the_active_version
from projections.postgres.spider_views import SpiderFilters, SpiderJob, SpiderRuns
from projections.postgres.views import END, Cursor
from services.runtime.sql import blocks

SQL = blocks(Path(__file__).with_name("spider_reading.sql"))
EVERY = SpiderFilters()
Row = TypeVar("Row", bound=Struct)


class SpiderReads:
    """Reads through the pool of a read model."""

    def __init__(self, pool: "AsyncConnectionPool[AsyncConnection[Any]]", version: Version) -> None:
        self._pool = pool
        self._version = version

    @on_the_active_version
    async def job(self, org_id: str, job_id: str) -> SpiderJob | None:
        """Return a spider job with all its run options; None: the org has no such job, or another kind of one."""
        asked = {"org_id": org_id, "job_id": job_id, "limit": 1}
        found = await self._jobs(spider_listing.one(SQL), asked)
        return found[0] if found else None

    @on_the_active_version
    async def org_of(self, org_ids: Sequence[str], job_id: str) -> str | None:
        """Return which of these orgs has a spider job; None: none of them."""
        asked = {"org_ids": list(org_ids), "job_id": job_id}
        async with self._pool.connection() as connection, connection.cursor(row_factory=scalar_row) as cursor:
            return await (await cursor.execute(SQL["org_of_spider_job"], asked)).fetchone()

    @on_the_active_version
    async def page(
        self, org_id: str, filters: SpiderFilters = EVERY, *, after: Cursor | None = None, limit: int = 50
    ) -> tuple[list[SpiderJob], Cursor | None]:
        """Return spider jobs, newest first, those behind a cursor, and where to go on; None: these were the last."""
        place = after or END
        asked = {
            "org_id": org_id,
            "project": filters.project,
            "submitted_at": place.submitted_at,
            "job_id": place.job_id,
            "limit": limit + 1,  # it tells whether there are others
        }
        found = await self._jobs(spider_listing.page(SQL, filters), asked)
        shown = found[:limit]
        more = len(found) > limit and bool(shown)
        return shown, Cursor(shown[-1].submitted_at, shown[-1].job_id) if more else None

    @on_the_active_version
    async def several(self, org_id: str, job_ids: Sequence[str]) -> dict[str, SpiderJob]:
        """Return those of these spider jobs that the org has."""
        asked = {"org_id": org_id, "job_ids": list(job_ids), "limit": len(job_ids)}
        return {row.job_id: row for row in await self._jobs(spider_listing.several(SQL), asked)}

    @on_the_active_version
    async def spiders(self, org_id: str, project: str) -> list[SpiderRuns]:
        """Return what came of each spider of a project that ever ran, by name; reads all jobs of the project."""
        return await self._rows(SpiderRuns, "spiders_of_project", {"org_id": org_id, "project": project})

    async def _jobs(self, query: sql.Composed, arguments: dict[str, Any]) -> list[SpiderJob]:
        async with self._pool.connection() as connection, connection.cursor(binary=True) as cursor:
            await cursor.execute(query, arguments)
            return [spider_listing.spider_job(row) for row in await cursor.fetchall()]

    async def _rows(self, row: type[Row], name: str, arguments: dict[str, Any]) -> list[Row]:
        async with (
            self._pool.connection() as connection,
            connection.cursor(binary=True, row_factory=class_row(row)) as cursor,
        ):
            await cursor.execute(spider_listing.named(SQL[name], row), arguments)
            return await cursor.fetchall()
