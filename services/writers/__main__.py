"""The bulk-writer of one kind of destination: `python -m services.writers`, kind by JOBLEDGER_WRITER_KIND."""

import asyncio
import contextlib
import os
import socket
from collections.abc import Callable, Coroutine
from functools import partial

from services.ledger.wire import DELIVERIES
from services.runtime.broker_watch import watch_broker
from services.runtime.commander import Commander
from services.runtime.dead_letter_topic import dead_letters_of
from services.runtime.errors import SettingsError
from services.runtime.health import Health, Progress
from services.runtime.health_server import serve
from services.runtime.process import run
from services.runtime.producer import Producer
from services.runtime.settings import Settings
from services.runtime.shredding.store import job_keys
from services.runtime.store_watch import watch_clickhouse, watch_postgres
from services.runtime.topics import deliveries
from services.streams.app import raised, running, until_it_stops
from services.streams.intake import Intake
from services.streams.watch import Taking, watch_stream
from services.writers.app import writer_app
from services.writers.batch_fault import batch_fault
from services.writers.clickhouse import compose as clickhouse
from services.writers.parts import Open, Parts
from services.writers.postgres import compose as postgres
from services.writers.sealed import Sealing
from services.writers.telling import Telling
from services.writers.warehouses import compose as warehouses
from services.writers.webhook import compose as webhook

KINDS: dict[str, Open] = {
    "postgres": postgres.opened,
    "webhook": webhook.opened,
    "clickhouse": clickhouse.opened,
    **warehouses.OPEN,
}


async def main(settings: Settings) -> None:
    """Run one writer until it is cancelled or something fails for good."""
    kind = settings.writer_kind
    if kind not in KINDS:
        raise SettingsError(f"JOBLEDGER_WRITER_KIND takes one of {', '.join(KINDS)}")
    writer_id = settings.worker_id or f"{socket.gethostname()}-{os.getpid()}"
    health = Health("writers")
    fault: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    async with contextlib.AsyncExitStack() as stack:
        server = await serve(settings, health)
        stack.push_async_callback(server.close)
        producer = Producer(settings, "writer-dead-letters")
        producer.start()
        stack.callback(producer.close)
        commander = Commander(settings, "writer")
        await commander.start()
        stack.push_async_callback(commander.close)

        sealing = Sealing(await stack.enter_async_context(job_keys(settings)))
        parts = Parts(settings, Telling(commander, writer_id, sealing), health.part(kind))
        executor = await stack.enter_async_context(KINDS[kind](parts))
        intake = Intake(
            DELIVERIES,
            executor.add,
            dead_letters_of(settings, producer),
            partial(batch_fault, settings),
        )
        taking = Taking()
        app = writer_app(settings, kind, intake.take, fault, taking)
        await stack.enter_async_context(running(app))
        async with asyncio.TaskGroup() as group:
            group.create_task(executor.run())
            group.create_task(until_it_stops(app))
            group.create_task(commander.wait())
            group.create_task(raised(fault))
            group.create_task(watch_broker(settings, health.part("broker")))
            topic = deliveries(settings, kind)
            group.create_task(watch_stream(settings, app, topic, taking, health.part("deliveries")))
            for name, watch in stores_of(settings, kind).items():
                group.create_task(watch(health.part(name)))


def stores_of(settings: Settings, kind: str) -> dict[str, Callable[[Progress], Coroutine[None, None, None]]]:
    """Return what watches the store that a kind of writer stands on; webhooks are looked up in Postgres."""
    if kind == "clickhouse":
        return {"clickhouse-server": partial(watch_clickhouse, settings.clickhouse)}
    return {"postgres-server": partial(watch_postgres, settings.postgres)}


if __name__ == "__main__":
    run(main)
