"""The bulk-writer of the internal Postgres store: `python -m services.writers`."""

import asyncio
import contextlib
import os
import socket

from services.ledger.wire import DELIVERIES
from services.runtime.blob import BlobStore
from services.runtime.broker_watch import watch_broker
from services.runtime.commander import Commander
from services.runtime.dead_letter import DeadLetters
from services.runtime.health import Health
from services.runtime.health_server import serve
from services.runtime.process import run
from services.runtime.producer import Producer
from services.runtime.settings import Settings
from services.streams.app import raised, running, until_it_stops
from services.streams.intake import Intake, partition_fault
from services.writers.app import writer_app
from services.writers.batcher import Batcher
from services.writers.postgres.writer import PostgresWriter
from services.writers.settling import Settling

KIND = "postgres"


async def main(settings: Settings) -> None:
    """Run one writer until it is cancelled or something fails for good."""
    writer_id = settings.worker_id or f"{socket.gethostname()}-{os.getpid()}"
    health = Health("writers")
    progress = health.part(KIND)
    fault: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    async with contextlib.AsyncExitStack() as stack:
        server = await serve(settings, health)
        stack.push_async_callback(server.close)
        writer = PostgresWriter(settings.postgres, BlobStore(settings.blobs))
        stack.push_async_callback(writer.close)
        producer = Producer(settings, "writer-dead-letters")
        producer.start()
        stack.callback(producer.close)
        commander = Commander(settings, "writer")
        await commander.start()
        stack.push_async_callback(commander.close)

        settling = Settling(writer, commander, progress, kind=KIND, writer_id=writer_id)
        batcher = Batcher(
            settling.deliver,
            progress,
            max_rows=settings.writer_batch_rows,
            max_seconds=settings.writer_batch_seconds,
        )
        intake = Intake(
            DELIVERIES,
            batcher.add,
            DeadLetters(producer, settings),
            lambda batch: partition_fault(settings.partitions, (each.partition for each in batch.deliveries)),
        )
        app = writer_app(settings, KIND, intake.take, fault)
        await stack.enter_async_context(running(app))
        async with asyncio.TaskGroup() as group:
            group.create_task(batcher.run())
            group.create_task(until_it_stops(app))
            group.create_task(commander.wait())
            group.create_task(raised(fault))
            group.create_task(watch_broker(settings, health.part("broker")))


if __name__ == "__main__":
    run(main)
