"""Waits until the read model has folded a position, told by Postgres itself (LISTEN), without polling it."""

import asyncio
import contextlib
import logging
from pathlib import Path
from typing import Any

import psycopg
from psycopg import AsyncConnection, Notify, sql

from services.runtime.postgres_faults import reason_of
from services.runtime.sql import blocks

SQL = blocks(Path(__file__).with_name("read.sql"))
RECONNECT_SECONDS = 0.5
CONNECT_SECONDS = 5
SWITCHED = "switched"  # what a rebuild tells who listens to the version that it has replaced
RENEW_SECONDS = 60.0  # then it is asked again which version is active
log = logging.getLogger(__name__)


class Positions:
    """Follows the checkpoints of the active version of the read model from a connection of its own."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._positions: dict[int, int] = {}
        self._moved = asyncio.Condition()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to listen."""
        self._task = asyncio.create_task(self._follow(), name="positions of the read model")

    async def close(self) -> None:
        """Stop listening."""
        if self._task:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    def known(self, partition: int) -> int:
        """Return the last position that Postgres told of; 0: none."""
        return self._positions.get(partition, 0)

    async def reached(self, partition: int, position: int, timeout_seconds: float) -> bool:
        """Tell whether the read model has folded that position, waiting for it at most so long."""
        try:
            async with asyncio.timeout(timeout_seconds), self._moved:
                await self._moved.wait_for(lambda: self._positions.get(partition, 0) >= position)
        except TimeoutError:
            return False
        return True

    async def _follow(self) -> None:
        while True:
            try:
                await self._listen()
            except psycopg.Error as error:  # away, or not migrated yet
                log.warning("cannot follow the read model's positions", extra={"reason": reason_of(error)})
                await asyncio.sleep(RECONNECT_SECONDS)

    async def _listen(self) -> None:
        connecting = AsyncConnection.connect(self._dsn, autocommit=True, connect_timeout=CONNECT_SECONDS)
        async with await connecting as connection:
            row = await (await connection.execute(SQL["active_schema"])).fetchone()
            assert row is not None
            schema: str = row[0]
            await connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(f"{schema}_positions")))
            await connection.execute(sql.SQL("SET search_path TO {}").format(sql.Identifier(schema)))
            stored = await self._stored(connection)  # after LISTEN: nothing falls between the two
            self._positions.clear()  # they may have been another version's
            await self._note(stored)
            async for notify in connection.notifies(timeout=RENEW_SECONDS):
                if notify.payload == SWITCHED:
                    return
                await self._note(_told(notify))

    async def _stored(self, connection: AsyncConnection[Any]) -> dict[int, int]:
        cursor = await connection.execute(SQL["checkpoints"])
        return {row[0]: row[1] async for row in cursor}

    async def _note(self, positions: dict[int, int]) -> None:
        async with self._moved:
            self._positions.update(positions)
            self._moved.notify_all()


def _told(notify: Notify) -> dict[int, int]:
    pairs = (pair.partition(":") for pair in notify.payload.split())
    return {int(partition): int(position) for partition, _, position in pairs}
