"""What taking deliveries off their topic costs: by Faust, as writers do it, and by the runtime's own reader.

Each way takes a few records and then many, in processes of their own that have imported everything; the difference is
what the records cost, whatever starting does. Both decode what they take; what becomes of it is nobody's matter here.
"""

import asyncio
import os
import statistics
import subprocess
import sys
import time
import uuid
from collections.abc import Sequence
from typing import Any

import uvloop

from bench.warehouses.figures import Consuming
from bench.warehouses.work import delivery
from services.ledger.tasks import DeliveryBatch
from services.ledger.wire import DELIVERIES
from services.runtime.ends import committed_end
from services.runtime.producer import Producer
from services.runtime.reader import LogReader, Record
from services.runtime.settings import Settings, settings_from
from services.runtime.topics import DELIVERY_KINDS, deliveries
from services.streams.acks import Done
from services.streams.app import consume, raw_topic, running, stream_app
from services.streams.watch import Taking

FEW, MANY = 100, 4000  # records
ITEMS = (1, 10, 100)  # deliveries of a record
ROUNDS = 3
PATIENCE_SECONDS = 120.0
KINDS = iter(DELIVERY_KINDS)  # each topic is used once


def consuming_of(settings: Settings, writer_us: float) -> list[Consuming]:
    """Measure; `writer_us` is the CPU time of the writer for a delivery, without consuming."""
    return [_measured(settings, items, writer_us) for items in ITEMS]


def _measured(settings: Settings, items: int, writer_us: float) -> Consuming:
    topics = {count: _filled(settings, items, count) for count in (FEW, MANY)}
    took = {
        way: statistics.median(
            _taken(settings, way, topics[MANY], MANY) - _taken(settings, way, topics[FEW], FEW) for _ in range(ROUNDS)
        )
        for way in ("faust", "runtime")
    }
    faust, runtime = (took[way] * 1e6 / ((MANY - FEW) * items) for way in ("faust", "runtime"))
    return Consuming(
        items,
        round(faust, 2),
        round(runtime, 2),
        round(faust / (faust + writer_us), 3),
        round((writer_us + runtime) / (writer_us + faust), 3),
    )


def _filled(settings: Settings, items: int, records: int) -> str:
    """Fill the topic of a kind that none has used, and return the kind."""
    kind = next(KINDS)
    value = DELIVERIES.encode(DeliveryBatch(deliveries=tuple(delivery(kind, number) for number in range(items))))
    producer = Producer(settings, "bench")
    producer.start()
    partitions = settings.partitions * settings.task_spread
    for number in range(records):
        producer.produce(deliveries(settings, kind), number % partitions, "org-1", value)
    producer.flush()
    producer.close()
    return kind


def _taken(settings: Settings, way: str, kind: str, records: int) -> float:
    """Return the CPU-seconds that a process takes for the records of a kind."""
    environ = {
        **os.environ,
        "JOBLEDGER_KAFKA": settings.kafka,
        "JOBLEDGER_POSTGRES": settings.postgres,
        "JOBLEDGER_REGISTRY": settings.registry,
        "JOBLEDGER_BLOBS": settings.blobs,
        "JOBLEDGER_BROKER": settings.broker,
        "JOBLEDGER_PARTITIONS": str(settings.partitions),
        "JOBLEDGER_TOPIC_PREFIX": settings.topic_prefix,
    }
    argv = (sys.executable, "-P", "-m", "bench.warehouses.consuming", way, kind, str(records))
    return float(subprocess.run(argv, env=environ, stdout=subprocess.PIPE, check=True).stdout)


async def by_faust(settings: Settings, kind: str, records: int) -> None:
    """Take records as a writer does, in a group of its own: another would go on where the one before had ended."""
    fault: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    all_taken, taken = asyncio.Event(), 0

    async def take(record: Record, done: Done) -> None:
        nonlocal taken
        DELIVERIES.decode(record.value)
        done()
        taken += 1
        if taken == records:
            all_taken.set()

    app = stream_app(settings, f"{settings.topic_prefix}.bench-{uuid.uuid4()}")

    @app.agent(raw_topic(app, deliveries(settings, kind)), name="bench")
    async def agent(stream: Any) -> None:
        await consume(stream, take, fault, Taking())

    async with running(app), asyncio.timeout(PATIENCE_SECONDS):
        await all_taken.wait()


def by_runtime(settings: Settings, kind: str, records: int) -> None:
    """Take records as other services do."""
    topic, partitions = deliveries(settings, kind), range(settings.partitions * settings.task_spread)
    committed_end(settings, topic, partitions)
    reader, taken = LogReader(settings, topic, dict.fromkeys(partitions, 0)), 0
    while taken < records:
        for record in reader.poll(1000, 0.1):
            DELIVERIES.decode(record.value)
            taken += 1
    reader.close()


def main(arguments: Sequence[str]) -> None:
    """Take the records of a kind and print what it took."""
    way, kind, records = arguments
    settings = settings_from({**os.environ})
    began = time.process_time()
    if way == "faust":
        uvloop.run(by_faust(settings, kind, int(records)))
    else:
        by_runtime(settings, kind, int(records))
    print(time.process_time() - began)


if __name__ == "__main__":
    main(sys.argv[1:])
