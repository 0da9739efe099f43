"""Clients as the production code configures them, and what the tests ask them again and again."""

from typing import Any

import pytest
from confluent_kafka import OFFSET_BEGINNING, OFFSET_END, KafkaError, KafkaException, TopicPartition

from services.runtime import ends, producer, reader, transactions
from services.runtime.kafka import error_of
from tests.contract.broker.brokers import AnyBroker

SECONDS = 30.0  # for a call that has to succeed
FENCED = KafkaError._FENCED


def transactional(broker: AnyBroker, turn: int = 0, **settings: Any) -> Any:
    """Make one of the two producers of ledger partition 0 as `PartitionTransactions` does; it fences earlier ones."""
    made = broker.producer(transactions._config(broker.settings, 0, turn) | _dotted(settings))
    made.init_transactions(SECONDS)
    return made


def plain(broker: AnyBroker, **settings: Any) -> Any:
    """Make the producer that all but deciders use."""
    return broker.producer(producer._config(broker.settings, "contract") | _dotted(settings))


def reading(broker: AnyBroker, topic: str, *starts: int, isolation: str = "read_committed") -> Any:
    """Make a consumer as `LogReader` does; it reads each partition from its start."""
    made = broker.consumer(reader._config(broker.settings) | {"isolation.level": isolation})
    made.assign([TopicPartition(topic, partition, start) for partition, start in enumerate(starts)])
    return made


def to_the_end(consumer: Any) -> tuple[list[Any], int]:
    """Return the messages up to the next report of an end, and the offset that it names."""
    found: list[Any] = []
    while True:
        message = consumer.poll(SECONDS)
        assert message is not None
        if message.error() is None:
            found.append(message)
            continue
        assert message.error().code() == KafkaError._PARTITION_EOF, message.error()
        return found, message.offset()


def values(broker: AnyBroker, topic: str, isolation: str = "read_committed") -> list[bytes | None]:
    """Return the values in partition 0, as a new reader finds them."""
    consumer = reading(broker, topic, 0, isolation=isolation)
    messages, _ = to_the_end(consumer)
    consumer.close()
    return [message.value() for message in messages]


def end(broker: AnyBroker, topic: str, partition: int = 0, isolation: Any = "read_committed") -> int:
    """Return where a partition ends, as `Ends` asks it."""
    asking = broker.consumer(ends._config(broker.settings, isolation))
    told = ends.ask_offsets(asking, topic, [partition], OFFSET_END)
    assert ends.ask_offsets(asking, topic, [partition], OFFSET_BEGINNING) == {partition: 0}
    asking.close()
    return told[partition]


def settle(broker: AnyBroker, topic: str, partition: int = 0) -> int:
    """Wait until everything that was written is decided, and return the end."""
    broker.eventually(lambda: end(broker, topic, partition) == end(broker, topic, partition, "read_uncommitted"))
    return end(broker, topic, partition)


def write(client: Any, topic: str, *records: bytes | None, partition: int = 0) -> None:
    """Begin a transaction and bring its records to the broker, without an end."""
    client.begin_transaction()
    for value in records:
        client.produce(topic, value, b"k", partition)
    client.flush(SECONDS)


def commit(client: Any, topic: str, *records: bytes | None, partition: int = 0) -> None:
    """Write records in a transaction of their own."""
    write(client, topic, *records, partition=partition)
    client.commit_transaction(SECONDS)


def refused(work: Any) -> KafkaError:
    """Return the error with which a call fails."""
    with pytest.raises(KafkaException) as raised:
        work()
    return error_of(raised.value)


def _dotted(settings: dict[str, Any]) -> dict[str, Any]:
    return {name.replace("_", "."): value for name, value in settings.items()}
