"""The composition root of the API: opens everything one process needs, serves, and closes it in reverse order."""

import asyncio
import gc
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial

import psycopg
import psycopg_pool
from aiohttp import web
from psycopg_pool import AsyncConnectionPool

from api.auth import Keyring
from api.config import keys
from api.config.reseal import seal_webhooks
from api.config.store import Pool
from api.failures import Failures
from api.fires import Fires
from api.history import History
from api.http import app_of
from api.limits import Limiter
from api.lookup import Jobs
from api.parts import Parts
from api.routes.all import OPERATIONS
from api.server import Runner
from api.streams import Streams
from api.tail import Tail
from api.usage import UsageOfOrgs
from api.watch import Known, watch
from projections.postgres.read import ReadModel
from services.runtime import registry, topics
from services.runtime.admin import ensure_topics, wait_for_broker
from services.runtime.blob import BlobStore
from services.runtime.commander import Commander
from services.runtime.ends import Ends
from services.runtime.event_lookup import EventLookup
from services.runtime.health import Health
from services.runtime.ledger_log import Checkpoint, LedgerLog
from services.runtime.ledger_watch import watch_decider
from services.runtime.sealing import Sealer
from services.runtime.settings import Settings
from services.runtime.shredding.store import JobKeys
from services.runtime.shredding.vault import Vault
from services.runtime.strangers import noting
from services.workers.spiders.sandbox import hide

MAX_CONNECTIONS = 8
BROKER_SECONDS = 60.0  # how long a broker may take to come up
YOUNG_OBJECTS = 10_000  # more than were let go of, and they are looked through
SHUTDOWN_SECONDS = 5.0  # how long calls under way may still take


@dataclass(frozen=True, slots=True)
class Running:
    """An API that serves; `port` is the one it listens on, `tasks` end only by a fault."""

    port: int
    tasks: asyncio.Task[None]


async def main(settings: Settings) -> None:
    """Serve until cancelled, or until a part fails for good."""
    hide()  # what a project does when its spiders are listed runs as our user
    await asyncio.to_thread(wait_for_broker, settings, BROKER_SECONDS)
    await asyncio.to_thread(ensure_topics, settings)
    if settings.credentials_key:
        await asyncio.to_thread(seal_webhooks, settings.postgres, Sealer(settings.credentials_key))
    async with serving(settings) as running:
        collect_seldom()
        await running.tasks


def collect_seldom() -> None:
    """Leave what was made until now out of every collection, and look through the rest when there is some of it.

    A call leaves little in cycles; a collection of everything holds up all calls for a twentieth of a second.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS)


@asynccontextmanager
async def serving(settings: Settings) -> AsyncIterator[Running]:
    """Serve on settings.host and settings.port while the block runs."""
    async with AsyncExitStack() as stack:
        pool: Pool = AsyncConnectionPool(settings.postgres, min_size=1, max_size=MAX_CONNECTIONS, open=False, timeout=5)
        await stack.enter_async_context(pool)
        model = await stack.enter_async_context(ReadModel(settings.postgres, max_connections=MAX_CONNECTIONS))
        commander = Commander(settings, "api")
        stack.push_async_callback(commander.close)
        await commander.start()
        health = Health("api")
        ends = None if settings.broker == "tansu" else Ends(settings, topics.events(settings))
        tail = await _tail(settings, model, ends)
        stack.callback(tail.close)
        lookup = EventLookup(settings, await asyncio.to_thread(registry.decoder, settings))
        stack.callback(lookup.close)
        job_keys = JobKeys(pool, Vault(settings.credentials_key))
        jobs = Jobs(model, tail, job_keys)
        keyring = Keyring(
            lambda key_id: keys.grant_of(pool, key_id),
            settings.operator_key,
            lambda grant: keys.used(pool, grant),
            failures=Failures(settings.failed_calls_per_second),
        )
        parts = Parts(
            settings=settings,
            pool=pool,
            keyring=keyring,
            limiter=Limiter(settings.calls_per_second),
            commander=commander,
            keys=job_keys,
            jobs=jobs,
            fires=Fires(model),
            usage=UsageOfOrgs(model),
            history=History(jobs, lookup, job_keys),
            streams=Streams(jobs, tail, keyring, settings),
            blobs=BlobStore(settings.blobs),
            health=health,
        )
        tasks = await stack.enter_async_context(
            tended(parts, tail, partial(_all_ends, settings, ends), commander.wait())
        )
        runner = Runner(
            app_of(parts, OPERATIONS), access_log=None, handle_signals=False, shutdown_timeout=SHUTDOWN_SECONDS
        )
        stack.push_async_callback(runner.cleanup)
        await runner.setup()
        await web.TCPSite(runner, settings.host, settings.port).start()
        yield Running(int(runner.addresses[0][1]), tasks)


async def _tail(settings: Settings, model: ReadModel, ends: Ends | None) -> Tail:
    """Begin to read where Postgres stands; a partition that it has not begun is read from its first event."""
    starts = {partition: Checkpoint() for partition in range(settings.partitions)}
    for partition, row in (await model.checkpoints()).items():
        starts[partition] = Checkpoint(row.position, row.next_offset)
    log = await asyncio.to_thread(LedgerLog, settings, registry.decoder(settings), starts, noted=noting("tail"))

    async def end_of(partition: int) -> int | None:
        return await ends.settled(partition) if ends else None

    async def folded() -> dict[int, int]:
        try:
            return {partition: row.position for partition, row in (await model.checkpoints()).items()}
        except (psycopg.OperationalError, psycopg_pool.PoolTimeout):
            return {}  # Postgres is away: /ready says so, and until it is back nothing is let go of

    return Tail(log, end_of, folded)


async def _all_ends(settings: Settings, ends: Ends | None) -> Known:
    """Where every partition ends now; None on Tansu, whose answer is not to be waited for."""
    return await ends.of(range(settings.partitions)) if ends else None


@asynccontextmanager
async def tended(
    parts: Parts, tail: Tail, ends: Callable[[], Awaitable[Known]], *more: Awaitable[None]
) -> AsyncIterator[asyncio.Task[None]]:
    """Run what must never end while the block runs; the task that is lent fails with the first of them that does."""

    async def tend() -> None:
        decider = watch_decider(parts.commander, parts.settings.partitions, parts.health.part("decider"))
        async with asyncio.TaskGroup() as group:
            for endless in (tail.run(), watch(parts.health, parts.pool, tail, ends), decider, *more):
                group.create_task(_awaited(endless))

    tasks = asyncio.create_task(tend())
    try:
        yield tasks
    finally:
        tasks.cancel()
        await asyncio.gather(tasks, return_exceptions=True)


async def _awaited(endless: Awaitable[None]) -> None:
    await endless
