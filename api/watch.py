"""Watches what the API stands on, for /ready: each part is red when it stands still, not only when it is gone."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

import psycopg
import psycopg_pool

from api.config.store import Pool
from api.tail import MARKER, Tail
from services.runtime.asking import keep_asking
from services.runtime.errors import BrokerFault
from services.runtime.health import Health, Progress

WATCH_SECONDS = 2.0

Known = Mapping[int, int] | None  # end offset by partition; None: the broker cannot tell


async def watch(health: Health, pool: Pool, tail: Tail, ends: Callable[[], Awaitable[Known]]) -> None:
    """Look at Postgres and at the tail every two seconds until cancelled."""
    async with asyncio.TaskGroup() as group:
        group.create_task(_watch_postgres(health.part("postgres"), pool))
        group.create_task(_watch_tail(health.part("ledger"), tail, ends))


async def _watch_postgres(part: Progress, pool: Pool) -> None:
    async def ask() -> None:
        async with pool.connection() as connection:
            await connection.execute("SELECT 1")

    faults = (psycopg.Error, psycopg_pool.PoolTimeout)
    await keep_asking(ask, part, who="Postgres", faults=faults, every_seconds=WATCH_SECONDS)


async def _watch_tail(part: Progress, tail: Tail, ends: Callable[[], Awaitable[Known]]) -> None:
    """The tail lives when it has read up to where the log ended a look ago; where ends are unknown, when it polls."""
    before: Mapping[int, int] = {}
    while True:
        try:
            now = await ends()
            behind = {p: end for p, end in before.items() if tail.next_offset(p) < end - MARKER}
            lag = sum(max(0, end - MARKER - tail.next_offset(p)) for p, end in (now or {}).items())
            if behind:
                part.stalled(f"the tail has not read the log up to {behind}", lag=lag)
            else:
                part.beat(jobs_held=tail.jobs_held, lag=lag)
            before = now or {}
        except BrokerFault as fault:
            part.stalled(str(fault))
        await asyncio.sleep(WATCH_SECONDS)
