"""Watches what the API stands on, for /ready: each part is red when it stands still, not only when it is gone."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

import psycopg
import psycopg_pool

from api.config.store import Pool
from api.tail import MARKER, Tail
from services.runtime.errors import BrokerFault
from services.runtime.health import Health, Progress

WATCH_SECONDS = 2.0
POSTGRES_SECONDS = 3.0

Known = Mapping[int, int] | None  # end offset by partition; None: the broker cannot tell


async def watch(health: Health, pool: Pool, tail: Tail, ends: Callable[[], Awaitable[Known]]) -> None:
    """Look at Postgres and at the tail every two seconds until cancelled."""
    async with asyncio.TaskGroup() as group:
        group.create_task(_watch_postgres(health.part("postgres"), pool))
        group.create_task(_watch_tail(health.part("ledger"), tail, ends))


async def _watch_postgres(part: Progress, pool: Pool) -> None:
    while True:
        try:
            async with asyncio.timeout(POSTGRES_SECONDS), pool.connection() as connection:
                await connection.execute("SELECT 1")
            part.beat()
        except (TimeoutError, psycopg.OperationalError, psycopg_pool.PoolTimeout) as error:
            part.stalled(f"Postgres does not answer: {type(error).__name__}")
        await asyncio.sleep(WATCH_SECONDS)


async def _watch_tail(part: Progress, tail: Tail, ends: Callable[[], Awaitable[Known]]) -> None:
    """The tail lives when it has read up to where the log ended a look ago; where ends are unknown, when it polls."""
    before: Mapping[int, int] = {}
    while True:
        try:
            now = await ends()
            behind = {p: end for p, end in before.items() if tail.next_offset(p) < end - MARKER}
            if behind:
                part.stalled(f"the tail has not read the log up to {behind}")
            else:
                part.beat(jobs_held=tail.jobs_held)
            before = now or {}
        except BrokerFault as fault:
            part.stalled(str(fault))
        await asyncio.sleep(WATCH_SECONDS)
