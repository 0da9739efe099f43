"""The queries of the API on the read model, each scoped to one org.

Every connection follows `jobledger.active_version` as it was when the connection was set up. A rebuild that replaces
the version takes its schema's name away: a read that meets that is made once more, on the new version, so no read sees
the old one any more (`following.py`).
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from msgspec import Struct
from msgspec.structs import asdict
from psycopg import AsyncConnection, AsyncCursor, IsolationLevel, sql
from psycopg.rows import class_row, scalar_row
from psycopg_pool import AsyncConnectionPool

from projections.postgres import detail, listing
from projections.postgres.following import Version, on_the_active_version
from projections.postgres.gathered import Gathered
from projections.postgres.item_reading import ItemReads
from projections.postgres.positions import Positions
from projections.postgres.rows import Checkpoint, Delivery, Fire, Job, Transition, Visit
from projections.postgres.spider_reading import SpiderReads
from projections.postgres.usage import Transaction, Usage
from projections.postgres.views import (
    Cursor,
    Extraction,
    Extractions,
    Filters,
    JobDetail,
    JobLine,
    JobStatus,
    Page,
    Progress,
    Replayable,
)
from services.runtime.sql import blocks

SQL = blocks(Path(__file__).with_name("read.sql"))
CONNECTION_SECONDS = 60.0
OPEN_SECONDS = 15.0
DETAIL_LANES = 2  # queries for jobs in full under way at once
MOST_DETAILS = 50  # jobs of one of them
EVERY = Filters()
Row = TypeVar("Row", bound=Struct)
Connection = AsyncConnection[Any]


class ReadModel:
    """Reads the read model through a pool of connections; `open` before the first query."""

    def __init__(
        self, dsn: str, max_connections: int = 8, *, cursor_factory: type[AsyncCursor[Any]] = AsyncCursor
    ) -> None:
        self._pool: AsyncConnectionPool[Connection] = AsyncConnectionPool(
            dsn,
            min_size=1,
            max_size=max_connections,
            max_lifetime=CONNECTION_SECONDS,
            configure=self._set_up,
            check=self._set_up,
            kwargs={"application_name": "jobledger read model", "cursor_factory": cursor_factory},
            open=False,
        )
        self._version = Version()
        self._positions = Positions(dsn)
        self.items = ItemReads(self._pool, self._version)
        self.spiders = SpiderReads(self._pool, self._version)
        self._details = Gathered(self._details_of, lanes=DETAIL_LANES, most=MOST_DETAILS)

    async def _set_up(self, connection: Connection) -> None:
        await self._version.set_up(connection, _configure)

    async def open(self) -> None:
        """Connect, or raise psycopg_pool.PoolTimeout."""
        await self._pool.open(wait=True, timeout=OPEN_SECONDS)
        self._positions.start()

    async def close(self) -> None:
        """Disconnect."""
        await self._positions.close()
        await self._pool.close()

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def job(self, org_id: str, job_id: str) -> JobDetail | None:
        """Return a job with everything about it, of one instant; None: the org has no such job."""
        return await self._details.get((org_id, job_id))

    @on_the_active_version
    async def _details_of(self, wanted: Collection[tuple[str, str]]) -> dict[tuple[str, str], JobDetail]:
        orgs, jobs = zip(*wanted, strict=True)
        values: dict[str, Any]
        if len(wanted) == 1:
            which, values = SQL["detail_of_one"], {"org_id": orgs[0], "job_id": jobs[0]}
        else:
            which, values = SQL["detail_of_many"], {"orgs": list(orgs), "jobs": list(jobs)}
        async with self._pool.connection() as connection, connection.cursor(binary=True) as cursor:
            await cursor.execute(detail.statement(SQL["detail"], which), values)
            found = [detail.detail_of(row) for row in await cursor.fetchall()]
        return {(each.job.org_id, each.job.job_id): each for each in found}

    @on_the_active_version
    async def progress(self, org_id: str, job_id: str, partition: int, after: int) -> Progress:
        """Return what a job's events behind an ordinal left, of one instant, and how far its partition was folded."""
        key = (org_id, job_id)
        async with self._pool.connection() as connection, connection.transaction():
            cursor = connection.cursor(row_factory=scalar_row)
            position = await (await cursor.execute(SQL["position"], (partition,))).fetchone()
            jobs = await _rows(connection, Job, "job", key)
            return Progress(
                position or 0,
                jobs[0] if jobs else None,
                await _rows(connection, Transition, "transitions_after", (*key, after)) if jobs else [],
                await _rows(connection, Visit, "trace_after", (*key, after)) if jobs else [],
            )

    @on_the_active_version
    async def head(self, org_id: str, job_id: str) -> Job | None:
        """Return a job's row alone; None: the org has no such job."""
        async with self._pool.connection() as connection:
            jobs = await _rows(connection, Job, "job", (org_id, job_id))
        return jobs[0] if jobs else None

    @on_the_active_version
    async def page(
        self,
        org_id: str,
        filters: Filters = EVERY,
        *,
        after: Cursor | None = None,
        limit: int = 50,
        oldest_first: bool = False,
    ) -> Page:
        """Return up to `limit` jobs of an org, those behind a cursor of the same direction."""
        query = listing.statement(SQL, filters, oldest_first=oldest_first)
        one_more = limit + 1  # it tells whether there is a next page
        values = listing.arguments(org_id, filters, after, one_more, oldest_first=oldest_first)
        async with (
            self._pool.connection() as connection,
            connection.cursor(binary=True, row_factory=class_row(JobLine)) as cursor,
        ):
            jobs = await (await cursor.execute(query, values)).fetchall()
        shown = jobs[:limit]
        more = len(jobs) > limit and bool(shown)
        return Page(shown, Cursor(shown[-1].submitted_at, shown[-1].job_id, oldest_first) if more else None)

    @on_the_active_version
    async def statuses(self, org_id: str, job_ids: Sequence[str]) -> dict[str, JobStatus]:
        """Return the status of each of these jobs that the org has."""
        async with self._pool.connection() as connection:
            rows = await _rows(connection, JobStatus, "statuses", (org_id, list(job_ids)))
        return {row.job_id: row for row in rows}

    @on_the_active_version
    async def deleted(self, org_id: str, job_ids: Sequence[str]) -> set[str]:
        """Return which of these jobs the org had and deleted."""
        async with self._pool.connection() as connection, connection.cursor(row_factory=scalar_row) as cursor:
            return set(await (await cursor.execute(SQL["deleted"], (org_id, list(job_ids)))).fetchall())

    @on_the_active_version
    async def deliveries_to(self, org_id: str, destination_ids: Sequence[str], limit: int) -> list[Delivery]:
        """Return the newest deliveries of an org to any of these destinations."""
        arguments = {"org_id": org_id, "destination_ids": list(dict.fromkeys(destination_ids)), "limit": limit}
        async with self._pool.connection() as connection:
            return await _rows(connection, Delivery, "deliveries_to", arguments)

    @on_the_active_version
    async def replayable(self, org_id: str, which: Replayable, limit: int) -> list[Delivery]:
        """Return newest generations that may be made once more, by job and destination."""
        arguments = {"org_id": org_id, "limit": limit, **asdict(which)}
        async with self._pool.connection() as connection:
            return await _rows(connection, Delivery, "replayable", arguments)

    @on_the_active_version
    async def fires(self, org_id: str, schedule_id: str, before: int, limit: int) -> list[Fire]:
        """Return the newest fires of a schedule, those whose ordinal in the org is below `before`."""
        arguments = {"org_id": org_id, "schedule_id": schedule_id, "before": before, "limit": limit}
        async with self._pool.connection() as connection:
            return await _rows(connection, Fire, "fires", arguments)

    @on_the_active_version
    async def usage(self, org_id: str) -> Usage | None:
        """Return what an org has and spent; None: it is not folded yet."""
        async with self._pool.connection() as connection:
            rows = await _rows(connection, Usage, "usage", (org_id,))
        return rows[0] if rows else None

    @on_the_active_version
    async def transactions(self, org_id: str, before: int, limit: int) -> list[Transaction]:
        """Return the newest transactions of an org, those whose position is below `before`."""
        arguments = {"org_id": org_id, "before": before, "limit": limit}
        async with self._pool.connection() as connection:
            return await _rows(connection, Transaction, "transactions", arguments)

    @on_the_active_version
    async def last_runs(self, org_id: str, schedule_ids: Sequence[str]) -> dict[str, datetime]:
        """Return when each of these schedules last submitted jobs; none that never did."""
        async with self._pool.connection() as connection:
            rows = await (await connection.execute(SQL["last_runs"], (list(schedule_ids), org_id))).fetchall()
        return dict(rows)

    @on_the_active_version
    async def extraction(self, org_id: str, job_id: str) -> Extraction | None:
        """Return what the internal destination holds of a job, or None."""
        async with self._pool.connection() as connection:
            rows = await _rows(connection, Extraction, "extraction", {"org_id": org_id, "job_id": job_id})
        return rows[0] if rows else None

    @on_the_active_version
    async def expired_at(self, org_id: str, job_id: str) -> datetime | None:
        """Return since when the results of a job are past retention; None: they are not."""
        async with self._pool.connection() as connection, connection.cursor(row_factory=scalar_row) as cursor:
            await cursor.execute(SQL["expired_at"], {"org_id": org_id, "job_id": job_id})
            return await cursor.fetchone()

    @on_the_active_version
    async def extractions(
        self, org_id: str, *, domain: str = "", url: str = "", limit: int = 20, offset: int = 0
    ) -> Extractions:
        """Return extractions, of one domain or url where given, and how many jobs like these are in extraction_done."""
        arguments = {"org_id": org_id, "domain": domain, "url": url, "limit": limit + 1, "offset": offset}
        async with self._pool.connection() as connection, connection.transaction():
            query = listing.extractions(SQL, domain=domain, url=url)
            async with connection.cursor(binary=True, row_factory=class_row(Extraction)) as cursor:
                rows = await (await cursor.execute(query, arguments)).fetchall()
            pending = await _number(connection, sql.SQL(SQL["indexing_pending"]), arguments)
            past = not (rows or offset) and bool(await _number(connection, listing.past(SQL, domain, url), arguments))
            expired = await _expired_of(connection, org_id, rows)
        shown = [row for row in rows[:limit] if row.job_id not in expired]  # their rows go a moment later
        return Extractions(shown, len(rows) > limit, pending, past)

    @on_the_active_version
    async def checkpoints(self) -> dict[int, Checkpoint]:
        """Return how far each partition has been folded."""
        async with self._pool.connection() as connection:
            rows = await _rows(connection, Checkpoint, "checkpoints", ())
        return {row.partition: row for row in rows}

    def folded(self, partition: int) -> int:
        """Return a position that has been folded for certain; 0: Postgres has not told any yet."""
        return self._positions.known(partition)

    async def reached(self, partition: int, position: int, timeout_seconds: float) -> bool:
        """Tell whether a position of the log has been folded, waiting for it at most so long."""
        return await self._positions.reached(partition, position, timeout_seconds)


async def _configure(connection: Connection) -> None:
    await connection.set_autocommit(True)
    schema = await (await connection.cursor(row_factory=scalar_row).execute(SQL["active_schema"])).fetchone()
    assert schema is not None
    await connection.execute(sql.SQL("SET search_path TO {}").format(sql.Identifier(schema)))
    await connection.execute("SET TimeZone TO 'UTC'")
    await connection.set_isolation_level(IsolationLevel.REPEATABLE_READ)
    await connection.set_read_only(True)


async def _rows(connection: Connection, row: type[Row], name: str, arguments: Any) -> list[Row]:
    async with connection.cursor(binary=True, row_factory=class_row(row)) as cursor:
        await cursor.execute(_query(name, row), arguments)
        return await cursor.fetchall()


async def _number(connection: Connection, query: sql.SQL | sql.Composed, arguments: Any) -> int:
    async with connection.cursor(row_factory=scalar_row) as cursor:
        row = await (await cursor.execute(query, arguments)).fetchone()
    assert row is not None
    return int(row)


async def _expired_of(connection: Connection, org_id: str, rows: Sequence[Extraction]) -> set[str]:
    arguments = {"org_id": org_id, "job_ids": [row.job_id for row in rows]}
    async with connection.cursor(row_factory=scalar_row) as cursor:
        return set(await (await cursor.execute(SQL["expired_of"], arguments)).fetchall()) if rows else set()


@cache
def _query(name: str, row: type[Struct]) -> bytes:
    """Return a statement that asks for the struct's columns by name: a newer version may have added others."""
    return sql.SQL(SQL[name]).format(columns=listing.columns(row)).as_bytes()
