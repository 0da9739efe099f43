"""The queries of the API about items: which chunks hold a part of them, what a job said, and what it counted.

A job has its own chunks and those that it adopted, in one order: by their rows, or by their planned items.
"""

from datetime import datetime
from pathlib import Path
from typing import Any, Protocol, TypeVar

import msgspec
from msgspec import Struct
from psycopg import AsyncConnection, sql
from psycopg.rows import class_row, scalar_row
from psycopg_pool import AsyncConnectionPool

from projections.postgres.following import Version, on_the_active_version
from services.ledger.items import Items
from services.runtime.sql import blocks

SQL = blocks(Path(__file__).with_name("item_reading.sql"))
UNBOUNDED = 2**62  # how many of its own chunks, and of their items, a job has
Row = TypeVar("Row", bound=Struct)


class HasItems(Protocol):
    """A job with items; a row of `jobs` is one."""

    @property
    def org_id(self) -> str:
        """Whose job it is."""

    @property
    def job_id(self) -> str:
        """Which job it is."""

    @property
    def progress(self) -> Any:
        """How far it has come, as `services.ledger.items.Items` says it; None: nothing was recorded."""


class Piece(Struct, frozen=True):
    """A chunk of a job, as far as it belongs to it: its rows, and its outcomes of planned items below `until_item`."""

    job_id: str  # that recorded it
    chunk: int
    items_ref: str
    rows_bytes: int
    outcomes_bytes: int
    stats_bytes: int
    first_item: int
    next_item: int
    first_row: int
    rows: int
    until_item: int


class Said(Struct, frozen=True):
    """Lines of a job, and at which position they were said."""

    number: int
    position: int
    occurred_at: datetime
    lines: Any  # list of {level, message, timestamp}; empty where a blob has them
    lines_ref: str | None  # that blob: JSON lines, zstd
    lines_bytes: int
    levels: list[int]  # how many lines of debug, info, warning, error, critical; empty: not counted


class Counted(Struct, frozen=True):
    """The newest statistics of a run."""

    number: int
    position: int
    occurred_at: datetime
    scraped: int
    final: bool
    routed: int
    stats: Any  # an object


def come_of(job: HasItems) -> Items:
    """Return how far a job has come with its items."""
    return Items(chain_id=job.job_id) if job.progress is None else msgspec.convert(job.progress, Items)


class ItemReads:
    """Reads through the pool of a read model."""

    def __init__(self, pool: "AsyncConnectionPool[AsyncConnection[Any]]", version: Version) -> None:
        self._pool = pool
        self._version = version

    @on_the_active_version
    async def of_rows(self, job: HasItems, offset: int, count: int, limit: int = UNBOUNDED) -> list[Piece]:
        """Return the chunks that hold so many results from an offset on, in their order."""
        asked = {"before": offset + count, "offset": offset, "limit": limit}
        return await self._rows(Piece, "of_rows", _links(job) | asked)

    @on_the_active_version
    async def of_items(self, job: HasItems, from_item: int, limit: int = UNBOUNDED) -> list[Piece]:
        """Return the chunks with outcomes of planned items from this one on, in their order."""
        return await self._rows(Piece, "of_items", _links(job) | {"from_item": from_item, "limit": limit})

    @on_the_active_version
    async def said(self, org_id: str, job_id: str, after: int, limit: int) -> list[Said]:
        """Return what a job said behind a position."""
        return await self._rows(Said, "said", {"org_id": org_id, "job_id": job_id, "after": after, "limit": limit})

    @on_the_active_version
    async def said_last(self, org_id: str, job_id: str, before: int, limit: int) -> list[Said]:
        """Return what a job said before a position, the newest first."""
        asked = {"org_id": org_id, "job_id": job_id, "before": before, "limit": limit}
        return await self._rows(Said, "said_last", asked)

    @on_the_active_version
    async def counted(self, org_id: str, job_id: str) -> Counted | None:
        """Return the newest statistics of a job; None: there are none, or they are past retention."""
        found = await self._rows(Counted, "counted", {"org_id": org_id, "job_id": job_id})
        return found[0] if found else None

    @on_the_active_version
    async def links(self, org_id: str, chain_id: str) -> int:
        """Return how many attempts a chain has by now."""
        async with self._pool.connection() as connection, connection.cursor(row_factory=scalar_row) as cursor:
            found = await (await cursor.execute(SQL["links"], {"org_id": org_id, "chain_id": chain_id})).fetchone()
        return int(found or 1)

    async def _rows(self, row: type[Row], name: str, arguments: dict[str, Any]) -> list[Row]:
        columns = sql.SQL(", ").join(map(sql.Identifier, row.__struct_fields__))
        async with (
            self._pool.connection() as connection,
            connection.cursor(binary=True, row_factory=class_row(row)) as cursor,
        ):
            await cursor.execute(sql.SQL(SQL[name]).format(columns=columns), arguments)
            return await cursor.fetchall()


def _links(job: HasItems) -> dict[str, Any]:
    """Return whose chunks a job has, how many of each, and up to which item."""
    adopts = come_of(job).adopts
    return {
        "org_id": job.org_id,
        "links": [*(link.job_id for link in adopts), job.job_id],
        "chunks": [*(link.chunks for link in adopts), UNBOUNDED],
        "items": [*(link.next_item for link in adopts), UNBOUNDED],
    }
