"""A worker process of one kind of tasks: what every kind has in common."""

import asyncio
import contextlib
import logging
import os
import socket
from collections.abc import Callable, Mapping
from types import MappingProxyType

from services.ledger.wire import TASKS
from services.runtime.blob import BlobStore
from services.runtime.broker_watch import watch_broker
from services.runtime.commander import Commander
from services.runtime.dead_letter_topic import dead_letters_of
from services.runtime.errors import BrokerFault
from services.runtime.health import Health
from services.runtime.health_server import serve
from services.runtime.producer import Producer
from services.runtime.settings import Settings
from services.runtime.shredding.store import job_keys
from services.runtime.store_watch import Watch
from services.runtime.topics import tasks
from services.streams.app import raised, running, until_it_stops
from services.streams.intake import Intake, misplaced
from services.streams.watch import Taking, watch_stream
from services.workers.app import worker_app
from services.workers.credentials import StoredCredentials
from services.workers.executor import Attempt, Executor
from services.workers.heartbeat import Heartbeat
from services.workers.providers.registry import Providers
from services.workers.sealed import with_keys
from services.workers.slots import Slots
from services.workers.steps import Tools

GRACE_SECONDS = 5.0  # for running jobs at a stop; the process has 10 s in all
TELL_SECONDS = 2.0  # for telling the ledger what was left

log = logging.getLogger(__name__)


ProvidersOf = Callable[[Settings, StoredCredentials], Providers]
AttemptOf = Callable[[Tools, BlobStore], Attempt]  # how a task of this kind is worked at


async def work(
    settings: Settings,
    kind: str,
    attempt_of: AttemptOf,
    providers_of: ProvidersOf,
    stores: Mapping[str, Watch] = MappingProxyType({}),
    *,
    grace_seconds: float = GRACE_SECONDS,
) -> None:
    """Run one worker until it is cancelled or something fails for good; stores that its kind needs turn it red.

    `grace_seconds`: for running jobs to end at a stop before they are cancelled.
    """
    worker_id = settings.worker_id or f"{socket.gethostname()}-{os.getpid()}"
    slots = Slots(settings.worker_slots)
    store = BlobStore(settings.blobs)
    health = Health("workers" if kind == "workflow" else f"workers-{kind}")
    async with contextlib.AsyncExitStack() as stack:
        server = await serve(settings, health)
        stack.push_async_callback(server.close)
        credentials = StoredCredentials(settings)
        stack.push_async_callback(credentials.close)
        await credentials.start()
        providers = providers_of(settings, credentials)
        stack.push_async_callback(providers.close)
        await providers.start()
        producer = Producer(settings, "worker-dead-letters")
        producer.start()
        stack.callback(producer.close)
        commander = Commander(settings, "worker")
        await commander.start()
        stack.push_async_callback(commander.close)

        tools = Tools(providers, store)
        stack.callback(tools.readers.close)
        keys = await stack.enter_async_context(job_keys(settings))
        executor = Executor(commander, worker_id, slots, with_keys(keys, attempt_of(tools, store)))
        heartbeat = Heartbeat(
            commander,
            executor,
            slots,
            health.part("ledger"),
            worker_id=worker_id,
            kind=kind,
            partitions=settings.partitions,
            every_seconds=settings.heartbeat_seconds,
        )
        intake = Intake(
            TASKS,
            executor.accept,
            dead_letters_of(settings, producer),
            lambda task, record: misplaced(record, settings, task.org_id, [(task.partition, task.job_id)]),
        )
        taking = Taking()
        app = worker_app(settings, kind, intake.take, executor.failed, taking)
        await stack.enter_async_context(running(app))
        beating = asyncio.create_task(heartbeat.run())
        stack.push_async_callback(_leave, executor, heartbeat, beating, grace_seconds)
        async with asyncio.TaskGroup() as group:
            group.create_task(raised(beating))
            group.create_task(until_it_stops(app))
            group.create_task(commander.wait())
            group.create_task(raised(executor.failed))
            group.create_task(raised(tools.readers.stuck))
            group.create_task(watch_broker(settings, health.part("broker")))
            group.create_task(watch_stream(settings, app, tasks(settings, kind), taking, health.part("tasks")))
            for name, watch in stores.items():
                group.create_task(watch(health.part(name)))


async def _leave(executor: Executor, heartbeat: Heartbeat, beating: asyncio.Task[None], grace_seconds: float) -> None:
    """End or hand back what runs while its leases hold, and say so; without a broker the leases tell the ledger."""
    try:
        async with asyncio.timeout(GRACE_SECONDS + TELL_SECONDS):
            await executor.stop(grace_seconds)
            beating.cancel()
            await heartbeat.last()
    except (TimeoutError, BrokerFault) as error:
        log.warning("left without a word", extra={"reason": str(error)})
    finally:
        beating.cancel()
