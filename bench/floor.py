"""The floor: what the same number of records costs when a bare loop sends them through Kafka and reads them back.

No transactions, no Avro, no HTTP, no database: what lies between the floor and the ledger is what the ledger does.
"""

import os
import time
from dataclasses import replace

import msgspec

from bench.processes import cpu_ms, used
from services.runtime.admin import ensure_topics
from services.runtime.ends import committed_end
from services.runtime.producer import Producer
from services.runtime.reader import LogReader
from services.runtime.settings import Settings
from services.runtime.topics import all_topics, commands

RECORD_BYTES = 600  # about the mean of the records that a job leaves
POLL_RECORDS = 1000
POLL_SECONDS = 0.2
FLUSH_SECONDS = 60.0  # a busy machine is slow, and no fault


class Floor(msgspec.Struct, frozen=True):
    """What the bare loop cost."""

    records: int
    seconds: float
    cpu_ms: float  # of this process and the broker


def records_in(settings: Settings) -> int:
    """Return how many records all topics of a ledger have held so far, markers of transactions included."""
    return sum(
        sum(committed_end(settings, topic.name, range(topic.partitions)).values()) for topic in all_topics(settings)
    )


def measure_floor(settings: Settings, broker_pid: int, records: int) -> Floor:
    """Send records through a topic of as many partitions as the ledger has, then read them."""
    bare = replace(settings, topic_prefix="floor")
    ensure_topics(bare)
    topic, partitions = commands(bare), bare.partitions
    processes = {"bench": os.getpid(), "broker": broker_pid}
    value = os.urandom(RECORD_BYTES)
    before, began = cpu_ms(processes), time.monotonic()
    producer = Producer(bare, "floor")
    producer.start()
    for number in range(records):
        producer.produce(topic, number % partitions, "key", value)
    producer.flush(FLUSH_SECONDS)
    producer.close()
    reader = LogReader(bare, topic, dict.fromkeys(range(partitions), 0))
    left = records
    while left > 0:
        left -= len(reader.poll(POLL_RECORDS, POLL_SECONDS))
    reader.close()
    seconds = time.monotonic() - began
    return Floor(records, seconds, sum(used(before, cpu_ms(processes)).values()))
