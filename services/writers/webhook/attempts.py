"""The log of attempts: what came of each call to an endpoint, written in batches beside the deliveries.

No delivery waits for it or depends on it. While Postgres is away the newest attempts are kept in memory; those that
have no room there are counted and lost.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec
import psycopg
import psycopg_pool
from psycopg import AsyncConnection

from schemas.storable import storable_text
from services.runtime.metrics import count
from services.runtime.sql import blocks
from services.runtime.time import utc_now
from services.writers.webhook.endpoints import Name, Pool

SQL = blocks(Path(__file__).with_name("attempts.sql"))
HELD = 20_000  # attempts in memory: 20 MiB of answers at most
BATCH = 1_000
GATHER_SECONDS = 0.2  # between two batches
PAUSE_SECONDS = 2.0  # while Postgres is away
PRUNE_SECONDS = 600.0
PRUNED = 10_000  # rows at once
LEAVING_SECONDS = 2.0  # for the last batch of a process that stops
HIDDEN = "[removed]"

log = logging.getLogger(__name__)


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """One call to an endpoint; `answer` is as `storable` has it."""

    org_id: str
    webhook_id: str
    job_id: str
    destination_id: str
    message_id: str
    generation: int
    try_number: int
    attempted_at: datetime
    latency_ms: int
    status: int
    error_type: str
    answer: str


def storable(answer: bytes, secrets: Sequence[str]) -> str:
    """Return an answer as text that Postgres takes, without the secrets and signatures that it may repeat."""
    text = storable_text(answer.decode("utf-8", "replace"))
    for secret in secrets:
        text = text.replace(secret, HIDDEN)
    return text


class AttemptLog:
    """Writes attempts and throttles while its block runs; `days` and `kept` (of each endpoint) bound what stays."""

    def __init__(self, pool: Pool, *, days: float, kept: int) -> None:
        self._pool = pool
        self._lifetime = timedelta(days=days)
        self._kept = kept
        self._attempts: deque[Attempt] = deque()
        self._throttles: dict[Name, datetime] = {}
        self._changed = asyncio.Event()
        self._prune_at = 0.0
        self._running: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._running = asyncio.create_task(self._run())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._running
        self._running.cancel()
        await asyncio.wait({self._running})
        try:
            async with asyncio.timeout(LEAVING_SECONDS):
                while self._attempts or self._throttles:
                    await self._save()
        except (psycopg.Error, psycopg_pool.PoolTimeout, TimeoutError):
            count("webhook_attempts_lost", len(self._attempts))

    def note(self, attempt: Attempt) -> None:
        """Keep an attempt for the next batch."""
        if len(self._attempts) >= HELD:
            self._attempts.popleft()
            count("webhook_attempts_lost")
        self._attempts.append(attempt)
        self._changed.set()

    def throttled(self, name: Name, until: datetime) -> None:
        """Keep until when an endpoint is paused."""
        self._throttles[name] = until
        self._changed.set()

    async def _run(self) -> None:
        while True:
            try:
                await self._prune()
                async with asyncio.timeout(PRUNE_SECONDS):
                    await self._changed.wait()
                await asyncio.sleep(GATHER_SECONDS)
                await self._save()
            except TimeoutError:
                continue
            except psycopg.DataError as error:
                log.warning("attempts refused", extra={"reason": type(error).__name__})
                self._drop()
            except (psycopg.Error, psycopg_pool.PoolTimeout) as error:
                log.warning("attempts not written yet", extra={"reason": type(error).__name__})
                await asyncio.sleep(PAUSE_SECONDS)

    async def _save(self) -> None:
        batch = [self._attempts[place] for place in range(min(BATCH, len(self._attempts)))]
        throttles = dict(self._throttles)
        async with self._pool.connection() as connection, connection.transaction():
            await self._write(connection, batch, throttles)
        for attempt in batch:
            if self._attempts and self._attempts[0] is attempt:  # else it was pushed out meanwhile
                self._attempts.popleft()
        for name, until in throttles.items():
            if self._throttles[name] == until:
                del self._throttles[name]
        if not self._attempts and not self._throttles:
            self._changed.clear()

    async def _write(
        self, connection: AsyncConnection[Any], batch: Sequence[Attempt], throttles: dict[Name, datetime]
    ) -> None:
        if batch:
            await connection.execute(SQL["share"])
            columns = {name: [getattr(each, name) for each in batch] for name in Attempt.__struct_fields__}
            await connection.execute(SQL["save"], columns)
        if throttles:
            names = sorted(throttles)  # in one order for all writers
            columns = {
                "org_id": [org_id for org_id, _ in names],
                "webhook_id": [webhook_id for _, webhook_id in names],
                "until": [throttles[name] for name in names],
            }
            await connection.execute(SQL["throttle"], columns)

    def _drop(self) -> None:
        lost = min(BATCH, len(self._attempts))
        for _ in range(lost):
            self._attempts.popleft()
        count("webhook_attempts_lost", lost)

    async def _prune(self) -> None:
        """Take away what is too old or too much, a bounded number of rows at once."""
        if time.monotonic() < self._prune_at:
            return
        before = utc_now() - self._lifetime
        async with self._pool.connection() as connection:
            old = await connection.execute(SQL["prune_old"], {"before": before, "most": PRUNED})
            many = await connection.execute(SQL["prune_many"], {"kept": self._kept, "most": PRUNED})
            await connection.execute(SQL["prune_throttles"], {"before": before})
        if max(old.rowcount, many.rowcount) < PRUNED:
            self._prune_at = time.monotonic() + PRUNE_SECONDS
