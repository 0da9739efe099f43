"""The floor of a decider: a bare loop that reads the same commands and writes the same records, and decides nothing."""

import time
import uuid
from collections.abc import Iterator
from itertools import pairwise

from confluent_kafka import Consumer, Producer, TopicPartition
from msgspec import Struct

from services.runtime import topics
from services.runtime.ends import committed_end
from services.runtime.reader import LogReader, Record
from services.runtime.settings import Settings

READ_AT_ONCE = 10_000
READ_SECONDS = 0.5
COMMANDS_A_BATCH = 1000
CALL_SECONDS = 30.0


class Moved(Struct):
    """What a decider left on the broker: records of its transactions, how many those were, and replies."""

    written: list[Record]
    replies: list[Record]
    transactions: int
    commands: int

    @property
    def bytes(self) -> int:
        """Keys, values and headers of all records."""
        return sum(map(_size, self.written)) + sum(map(_size, self.replies))


def moved_by_decider(settings: Settings, commands: int) -> Moved:
    """Read back all that a decider of one partition has written."""
    events = topics.events(settings)
    outgoing = [events, *(topic.name for topic in topics.all_topics(settings) if _is_outgoing(settings, topic.name))]
    written = [record for topic in outgoing for record in _all_of(settings, topic)]
    ends = committed_end(settings, events, [0])
    transactions = ends[0] - sum(record.topic == events for record in written)  # each leaves a marker there
    return Moved(written, list(_all_of(settings, topics.replies(settings))), transactions, commands)


def run_floor(settings: Settings, moved: Moved) -> float:
    """Read the commands again and write the records again, in as many transactions; return how long it took."""
    consumer = Consumer(_reading(settings))
    consumer.assign([TopicPartition(topics.commands(settings), 0, 0)])
    writers = [_transactional(settings) for _ in range(2)]
    replier = Producer(_sending(settings))
    began = time.monotonic()
    read = 0
    batches = zip(_parts(moved.written, moved.transactions), _parts(moved.replies, moved.transactions), strict=True)
    for number, (written, replies) in enumerate(batches):
        read += len(consumer.consume(COMMANDS_A_BATCH, 0.005)) if read < moved.commands else 0
        writer = writers[number % 2]
        writer.begin_transaction()
        for record in written:
            writer.produce(record.topic, record.value, record.key, record.partition, headers=list(record.headers))
        writer.commit_transaction(CALL_SECONDS)
        for record in replies:
            replier.produce(record.topic, record.value, record.key, record.partition)
        replier.poll(0)
    while read < moved.commands:
        read += len(consumer.consume(COMMANDS_A_BATCH, READ_SECONDS))
    replier.flush(CALL_SECONDS)
    took = time.monotonic() - began
    consumer.close()
    return took


def _is_outgoing(settings: Settings, topic: str) -> bool:
    return topic.startswith((f"{settings.topic_prefix}.tasks", f"{settings.topic_prefix}.deliveries"))


def _all_of(settings: Settings, topic: str) -> Iterator[Record]:
    partitions = next(each.partitions for each in topics.all_topics(settings) if each.name == topic)
    reader = LogReader(settings, topic, dict.fromkeys(range(partitions), 0))
    try:
        while not reader.at_end():
            yield from (record for record in reader.poll(READ_AT_ONCE, READ_SECONDS) if record.value)  # no fences
    finally:
        reader.close()


def _parts(records: list[Record], count: int) -> Iterator[list[Record]]:
    edges = [len(records) * number // count for number in range(count + 1)]
    return (records[start:end] for start, end in pairwise(edges))


def _size(record: Record) -> int:
    return len(record.key) + len(record.value) + sum(len(name) + len(value or b"") for name, value in record.headers)


def _reading(settings: Settings) -> dict[str, str | int | float | bool]:
    return {
        "bootstrap.servers": settings.kafka,
        "group.id": uuid.uuid4().hex,
        "enable.auto.commit": False,
        "isolation.level": "read_committed",
        "fetch.queue.backoff.ms": 5,
    }


def _sending(settings: Settings) -> dict[str, str | int | float | bool]:
    return {
        "bootstrap.servers": settings.kafka,
        "linger.ms": 5,
        "enable.idempotence": True,
        "queue.buffering.max.messages": 500_000,
    }


def _transactional(settings: Settings) -> Producer:
    producer = Producer(_sending(settings) | {"transactional.id": uuid.uuid4().hex, "delivery.report.only.error": True})
    producer.init_transactions(CALL_SECONDS)
    return producer
