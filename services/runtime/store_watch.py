"""Whether Postgres and ClickHouse answer, also while there is nothing to write."""

from collections.abc import Callable, Coroutine

import aiohttp
import psycopg
from psycopg import AsyncConnection

from services.runtime.asking import keep_asking
from services.runtime.clickhouse import tls_of
from services.runtime.errors import RuntimeFault
from services.runtime.health import Progress

CONNECT_SECONDS = 3
PING_SECONDS = 3.0

Watch = Callable[[Progress], Coroutine[None, None, None]]  # asks a store, and says whether it answers


class StoreAway(RuntimeFault):
    """A store answered that it does not work."""


async def watch_postgres(dsn: str, progress: Progress) -> None:
    """Ask Postgres over a connection of its own, until cancelled."""
    connection: AsyncConnection | None = None

    async def ask() -> None:
        nonlocal connection
        if connection is None or connection.closed:
            connection = await AsyncConnection.connect(
                dsn, autocommit=True, connect_timeout=CONNECT_SECONDS, application_name="jobledger watch"
            )
        await connection.execute("SELECT 1")

    try:
        await keep_asking(ask, progress, who="Postgres", faults=(psycopg.Error,))
    finally:
        if connection is not None:
            await connection.close()


async def watch_clickhouse(url: str, progress: Progress) -> None:
    """Ask the server of ClickHouse over HTTP, until cancelled."""
    server = url.rpartition("@")[2].removeprefix("http://").removeprefix("https://").partition("/")[0]
    scheme = "https" if url.startswith("https://") else "http"
    timeout, tls = aiohttp.ClientTimeout(total=PING_SECONDS), tls_of(url)
    async with aiohttp.ClientSession(timeout=timeout) as session:

        async def ask() -> None:
            try:
                async with session.get(f"{scheme}://{server}/ping", ssl=tls) as answer:
                    answer.raise_for_status()
            except (aiohttp.ClientError, TimeoutError) as error:
                raise StoreAway(f"ClickHouse at {server} does not answer: {type(error).__name__}") from error

        await keep_asking(ask, progress, who="ClickHouse")
