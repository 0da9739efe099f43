"""The process that fires schedules and lets results expire: `python -m services.scheduler`. Any number may run."""

import asyncio
from contextlib import AsyncExitStack

from psycopg_pool import AsyncConnectionPool

from api.config.store import Pool
from services.runtime.admin import ensure_topics, wait_for_broker
from services.runtime.blob import BlobStore
from services.runtime.broker_watch import watch_broker
from services.runtime.commander import Commander
from services.runtime.health import Health
from services.runtime.health_server import serve
from services.runtime.ledger_watch import watch_decider
from services.runtime.process import run
from services.runtime.settings import Settings
from services.runtime.shredding.store import JobKeys
from services.runtime.shredding.vault import Vault
from services.runtime.store_watch import watch_postgres
from services.scheduler.book import StoredBook
from services.scheduler.leftover_archives import LeftoverArchives
from services.scheduler.leftover_bodies import LeftoverBodies
from services.scheduler.leftover_keys import LeftoverKeys
from services.scheduler.retained import MODULES, StoredRetained
from services.scheduler.retention import Retention
from services.scheduler.scheduler import Scheduler, limits_of

SERVICE = "scheduler"
BROKER_SECONDS = 60.0
CONNECTIONS = 4
POOL_SECONDS = 5.0  # that a connection is waited for


async def main(settings: Settings) -> None:
    """Fire schedules and let results expire until cancelled, or until a part fails for good."""
    health = Health(SERVICE)
    async with AsyncExitStack() as stack:
        server = await serve(settings, health)
        stack.push_async_callback(server.close)
        await asyncio.to_thread(wait_for_broker, settings, BROKER_SECONDS)
        await asyncio.to_thread(ensure_topics, settings)
        pool: Pool = AsyncConnectionPool(
            settings.postgres, min_size=1, max_size=CONNECTIONS, open=False, timeout=POOL_SECONDS
        )
        await stack.enter_async_context(pool)
        commander = Commander(settings, SERVICE)
        stack.push_async_callback(commander.close)
        await commander.start()
        keys = JobKeys(pool, Vault(settings.credentials_key))
        book = StoredBook(pool, keys, allowed=settings.allowed_networks)
        scheduler = Scheduler(book, commander, limits_of(settings), health.part("schedules"))
        retained = StoredRetained(pool, settings.retention_seconds)
        retention = Retention(retained, commander, settings.retention_poll_seconds, health.part("retention"))
        of_modules = StoredRetained(pool, settings.module_retention_seconds, MODULES)
        modules = Retention(of_modules, commander, settings.retention_poll_seconds, health.part("retention of modules"))
        blobs = BlobStore(settings.blobs)
        async with asyncio.TaskGroup() as group:
            group.create_task(commander.wait())
            group.create_task(scheduler.run())
            group.create_task(retention.run())
            group.create_task(modules.run())
            group.create_task(LeftoverKeys(pool, commander, health.part("keys")).run())
            group.create_task(LeftoverBodies(pool, blobs, health.part("bodies")).run())
            group.create_task(LeftoverArchives(pool, blobs, commander, health.part("archives")).run())
            group.create_task(watch_broker(settings, health.part("broker")))
            group.create_task(watch_decider(commander, settings.partitions, health.part("decider")))
            group.create_task(watch_postgres(settings.postgres, health.part("postgres")))


if __name__ == "__main__":
    run(main, SERVICE)
