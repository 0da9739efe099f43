"""The decider process: a thread for each partition that this instance owns; the first error ends the process."""

import asyncio
import logging
import os
import threading
from typing import NoReturn

from services.decider.partition import PartitionDecider
from services.ledger.policy import SECOND, Policy
from services.runtime import health_server
from services.runtime.dead_letter import DeadLetters
from services.runtime.errors import Fenced
from services.runtime.health import Health, Progress
from services.runtime.ids import uuid7
from services.runtime.metrics import count, level
from services.runtime.process import run
from services.runtime.producer import Producer
from services.runtime.reader import Record
from services.runtime.registry import decoder, encoder
from services.runtime.settings import Settings
from services.runtime.time import now_micros

log = logging.getLogger(__name__)
PARK_TIMEOUT_SECONDS = 35.0


async def main(settings: Settings) -> None:
    """Own the partitions until cancelled."""
    loop = asyncio.get_running_loop()
    producer = Producer(settings, "decider")
    producer.start()
    letters = DeadLetters(producer, settings)

    def park(record: Record, reason: str, detail: str) -> None:
        asyncio.run_coroutine_threadsafe(letters.park(record, reason, detail), loop).result(PARK_TIMEOUT_SECONDS)

    health = Health("decider")
    server = await health_server.serve(settings, health)
    encode, decode = await asyncio.to_thread(encoder, settings), await asyncio.to_thread(decoder, settings)
    boot_id = uuid7()
    stopping = threading.Event()
    deciders = {
        partition: PartitionDecider(
            settings,
            partition,
            policy=policy_of(settings),
            encoder=encode,
            decoder=decode,
            producer=producer,
            park=park,
            boot_id=boot_id,
            clock=now_micros,
        )
        for partition in settings.partitions_owned()
    }
    try:
        async with asyncio.TaskGroup() as group:
            for partition, decider in deciders.items():
                group.create_task(in_thread(decider, health.part(f"partition-{partition}"), partition, stopping))
    finally:
        stopping.set()
        await server.close()
    await asyncio.to_thread(producer.close)


async def in_thread(decider: PartitionDecider, progress: Progress, partition: int, stopping: threading.Event) -> None:
    """Run one partition in a thread of its own; an error there is an error here."""
    loop = asyncio.get_running_loop()
    over: asyncio.Future[None] = loop.create_future()

    def settle(error: BaseException | None) -> None:
        if over.done():
            return
        if error is None:
            over.set_result(None)
        else:
            over.set_exception(error)

    def work() -> None:
        error: BaseException | None = None
        try:
            decide_until(decider, progress, partition, stopping)
        except Fenced as fenced:
            leave_at_once(fenced)
        except BaseException as raised:
            error = raised
        loop.call_soon_threadsafe(settle, error)

    thread = threading.Thread(target=work, name=f"partition-{partition}", daemon=True)
    thread.start()
    try:
        await asyncio.shield(over)
    except asyncio.CancelledError:
        stopping.set()
        await asyncio.to_thread(thread.join)
        raise


def leave_at_once(fenced: Fenced) -> NoReturn:
    """End the process without farewell: a fenced producer may hang in every further call, even in closing."""
    log.critical("partition lost, leaving", extra={"reason": str(fenced)})
    logging.shutdown()
    os._exit(1)


def decide_until(decider: PartitionDecider, progress: Progress, partition: int, stopping: threading.Event) -> None:
    """Open a partition and decide on it until told to stop; batches are whole, so stopping needs no farewell."""
    decider.open()
    label = str(partition)
    while not stopping.is_set():
        decided = decider.step()
        progress.beat(position=decider.position)
        if decided:
            count("commands_decided", decided, partition=label)
            level("position", decider.position, process="decider", partition=label)
            level("jobs_live", decider.live_jobs, partition=label)
    decider.close()


def policy_of(settings: Settings) -> Policy:
    """Return the limits of the rules as the settings have them."""
    return Policy(
        heartbeat=int(settings.heartbeat_seconds * SECOND),
        lease=int(settings.lease_seconds * SECOND),
        dispatch_resend=int(settings.dispatch_resend_seconds * SECOND),
        delivery_resend=int(settings.delivery_resend_seconds * SECOND),
    )


if __name__ == "__main__":
    run(main)
