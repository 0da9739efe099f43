"""The decider process: a thread for each partition that this instance owns; the first error ends the process."""

import asyncio
import logging
import os
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import NoReturn

from schemas.codec import Encoder
from services.decider.clock import SteadyClock
from services.decider.partition import PartitionDecider, Tools, open_partition
from services.decider.permits import Permits
from services.decider.postgres_archive import PostgresArchive
from services.decider.waiting import watch_inboxes
from services.runtime import health_server, topics
from services.runtime.broker_watch import watch_broker
from services.runtime.dead_letter import parking_from_threads
from services.runtime.dead_letter_topic import dead_letters_of
from services.runtime.ends import Ends
from services.runtime.errors import Fenced, RegistryAway
from services.runtime.health import Health, Progress
from services.runtime.ids import uuid7
from services.runtime.late_faults import say_if_it_fails
from services.runtime.metrics import count, level
from services.runtime.policy import policy_of
from services.runtime.process import run
from services.runtime.producer import Producer
from services.runtime.registry import decoder, encoder
from services.runtime.settings import Settings
from services.runtime.time import now_micros

REGISTRY_SECONDS = 1.0  # until a registry that is away is asked again

log = logging.getLogger(__name__)


async def main(settings: Settings) -> None:
    """Own the partitions until cancelled."""
    producer = Producer(settings, "decider")
    producer.start()
    letters = dead_letters_of(settings, producer)
    park = parking_from_threads(letters, asyncio.get_running_loop())
    health = Health("decider")
    server = await health_server.serve(settings, health)
    parts = {partition: health.part(f"partition-{partition}") for partition in settings.partitions_owned()}
    encode = await registered(settings, list(parts.values()))
    decode = await asyncio.to_thread(decoder, settings)
    archive, ends = PostgresArchive(settings.postgres), Ends(settings, topics.commands(settings))
    tools = Tools(
        settings,
        policy_of(settings),
        encode,
        decode,
        producer,
        park,
        ends,
        boot_id=uuid7(),
        clock=SteadyClock(now_micros, time.monotonic),
        permits=Permits(len(parts)),
        archive=archive.of,
    )
    deciders: dict[int, PartitionDecider] = {}
    stopping = threading.Event()
    try:
        async with asyncio.TaskGroup() as group:
            if settings.broker != "tansu":  # its end offsets are wrong
                group.create_task(watch_inboxes(ends, deciders, health.part("commands")))
            group.create_task(archive.watch())
            group.create_task(watch_broker(settings, health.part("broker")))
            for partition, progress in parts.items():
                group.create_task(in_thread(partial(decide, tools, partition, deciders, progress, stopping), stopping))
    finally:
        stopping.set()
        archive.close()
        await server.close()
        await asyncio.to_thread(producer.close)


async def registered(settings: Settings, parts: Sequence[Progress]) -> Encoder:
    """Register the schemas of our events; a registry that is away is waited for, which every part tells."""
    for part in parts:
        part.stalled("asks the schema registry")
    while True:
        try:
            return await asyncio.to_thread(encoder, settings)
        except RegistryAway as away:
            log.warning("waiting for the schema registry", extra={"reason": str(away)})
            for part in parts:
                part.stalled(str(away))
        await asyncio.sleep(REGISTRY_SECONDS)


async def in_thread(work: Callable[[], None], stopping: threading.Event) -> None:
    """Run something in a thread of its own until it ends; an error there is an error here."""
    loop = asyncio.get_running_loop()
    over: asyncio.Future[None] = loop.create_future()

    def settle(error: BaseException | None) -> None:
        if over.done():
            return
        if error is None:
            over.set_result(None)
        else:
            over.set_exception(error)

    def run_and_settle() -> None:
        error: BaseException | None = None
        try:
            work()
        except Fenced as fenced:
            leave_at_once(fenced)
        except BaseException as raised:
            error = raised
        loop.call_soon_threadsafe(settle, error)

    thread = threading.Thread(target=run_and_settle, daemon=True)
    thread.start()
    try:
        await asyncio.shield(over)
    except asyncio.CancelledError:
        stopping.set()
        say_if_it_fails(over)
        await asyncio.to_thread(thread.join)
        raise


def leave_at_once(fenced: Fenced) -> NoReturn:
    """End the process without farewell: a fenced producer may hang in every further call, even in closing."""
    log.critical("partition lost, leaving", extra={"reason": str(fenced)})
    logging.shutdown()
    os._exit(1)


def decide(
    tools: Tools,
    partition: int,
    deciders: dict[int, PartitionDecider],
    progress: Progress,
    stopping: threading.Event,
) -> None:
    """Own a partition until told to stop. Batches are whole, so stopping needs no farewell."""
    progress.stalled("takes the partition over, and folds what is in it")
    decider = deciders[partition] = open_partition(tools, partition)
    label = str(partition)
    while not stopping.is_set():
        decided = decider.step()
        progress.beat(position=decider.position)
        if decided:
            count("commands_decided", decided, partition=label)
        level("position", decider.position, process="decider", partition=label)  # timers and leases move it too
        level("jobs_live", decider.live_jobs, partition=label)
        level("gate_age", decider.gate_age, partition=label)
        level("deliveries_overdue", decider.ledger.resends.waiting, partition=label)
    decider.close()


if __name__ == "__main__":
    run(main)
