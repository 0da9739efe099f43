"""What a consumer with assigned partitions is given: records as they were written, ends, and errors in their place."""

from typing import Any

from confluent_kafka import OFFSET_END, TIMESTAMP_CREATE_TIME, KafkaError, TopicPartition

from services.runtime.ends import ask_offsets
from tests.contract.broker.brokers import AnyBroker, records
from tests.contract.broker.clients import (
    SECONDS,
    commit,
    end,
    reading,
    refused,
    settle,
    to_the_end,
    transactional,
    write,
)


def one(consumer: Any) -> Any:
    """Return the next message, or a word instead of it."""
    message = consumer.poll(SECONDS)
    assert message is not None
    error = message.error()
    return error.code() if error else message.value()


def test_a_record_comes_as_it_was_written(broker: AnyBroker, topic: str) -> None:
    before = broker.now_ms()
    writer = transactional(broker)
    writer.begin_transaction()
    writer.produce(topic, b"value", "key", 1, headers=[("a", b"1"), ("b", b""), ("a", b"2")])
    writer.produce(topic, b"", "", 1)
    writer.produce(topic, None, b"", 1, headers=[("ce_type", b"fence")])
    writer.commit_transaction(SECONDS)
    settle(broker, topic, 1)
    consumer = reading(broker, topic, 0, 0)
    consumer.assign([TopicPartition(topic, 1, 0)])
    found, _ = to_the_end(consumer)
    assert {(message.topic(), message.partition()) for message in found} == {(topic, 1)}
    assert [(each.offset(), each.key(), each.value(), each.headers()) for each in found] == [
        (0, b"key", b"value", [("a", b"1"), ("b", b""), ("a", b"2")]),
        (1, b"", b"", None),
        (2, b"", None, [("ce_type", b"fence")]),
    ]
    for message in found:
        kind, stamp = message.timestamp()
        assert kind == TIMESTAMP_CREATE_TIME
        assert before <= stamp <= broker.now_ms()


def test_the_end_of_a_partition_is_told_once_and_again_after_what_came(broker: AnyBroker, topic: str) -> None:
    writer = transactional(broker)
    consumer = reading(broker, topic, 0)
    assert to_the_end(consumer) == ([], 0)
    assert consumer.poll(0.3) is None
    commit(writer, topic, b"1")
    settle(broker, topic)
    found, last = to_the_end(consumer)
    assert (records(found), last) == ([(0, b"1")], 2)
    assert consumer.poll(0.3) is None


def test_the_end_is_that_of_what_is_decided(broker: AnyBroker, topic: str) -> None:
    writer = transactional(broker)
    write(writer, topic, b"open")
    consumer = reading(broker, topic, 0)
    assert to_the_end(consumer) == ([], 0)
    writer.commit_transaction(SECONDS)
    found, last = to_the_end(consumer)
    assert (records(found), last) == ([(0, b"open")], 2)


def test_reading_begins_at_the_offset_that_was_named_also_where_no_record_is(broker: AnyBroker, topic: str) -> None:
    writer = transactional(broker)
    for value in (b"0", b"2", b"4"):
        commit(writer, topic, value)
    settle(broker, topic)
    for start, expected in ((1, [(2, b"2"), (4, b"4")]), (4, [(4, b"4")]), (5, []), (6, [])):
        found, last = to_the_end(reading(broker, topic, start))
        assert (records(found), last) == (expected, 6)


def test_a_consumer_that_is_assigned_anew_goes_on_there_and_is_told_the_end_again(
    broker: AnyBroker, topic: str
) -> None:
    commit(transactional(broker), topic, b"0", b"1")
    settle(broker, topic)
    consumer = reading(broker, topic, 0, 0)
    ends = sorted((to_the_end(consumer)[1], to_the_end(consumer)[1]))
    assert ends == [0, 3]
    consumer.assign([TopicPartition(topic, 0, 1)])
    found, last = to_the_end(consumer)
    assert (records(found), last) == ([(1, b"1")], 3)
    consumer.assign([TopicPartition(topic, 0, 3)])
    assert to_the_end(consumer) == ([], 3)
    consumer.unassign()
    assert consumer.poll(0.3) is None


def test_an_offset_behind_the_end_is_an_error_of_its_own(broker: AnyBroker, topic: str) -> None:
    commit(transactional(broker), topic, b"0")
    settle(broker, topic)
    assert one(reading(broker, topic, 3)) == KafkaError._AUTO_OFFSET_RESET


def test_an_offset_behind_what_is_decided_is_none(broker: AnyBroker, topic: str) -> None:
    """A checkpoint of a reader may lie there when a transaction was left open behind it."""
    writer = transactional(broker)
    write(writer, topic, b"0", b"1")
    consumer = reading(broker, topic, 2)
    message = consumer.poll(0.5)
    assert message is None or message.error().code() == KafkaError._PARTITION_EOF
    writer.commit_transaction(SECONDS)
    settle(broker, topic)
    commit(writer, topic, b"3")
    settle(broker, topic)
    found, _ = to_the_end(consumer)
    while not found:
        found, _ = to_the_end(consumer)
    assert records(found) == [(3, b"3")]


def test_no_more_than_was_asked_for_is_returned_and_nothing_is_left_out(broker: AnyBroker, topic: str) -> None:
    sent = [b"%d" % number for number in range(40)]
    commit(transactional(broker), topic, *sent)
    settle(broker, topic)
    consumer = reading(broker, topic, 0)
    found: list[bytes | None] = []
    while len(found) < len(sent):
        first = consumer.poll(SECONDS)
        rest = consumer.consume(6, 0)
        assert len(rest) <= 6
        found += [message.value() for message in (first, *rest) if message.error() is None]
    assert found == sent


def test_a_consumer_is_told_of_topics_and_partitions_that_are_not_there(broker: AnyBroker, topic: str) -> None:
    consumer = reading(broker, topic, 0)
    assert set(consumer.list_topics(topic, timeout=SECONDS).topics[topic].partitions) == {0, 1}
    assert not consumer.list_topics("nobody.made.this", timeout=SECONDS).topics["nobody.made.this"].partitions
    for name, partition in ((topic, 2), ("nobody.made.this", 0)):
        error = refused(lambda name=name, partition=partition: ask_offsets(consumer, name, [partition], OFFSET_END))
        assert error.code() in (KafkaError._UNKNOWN_PARTITION, KafkaError.UNKNOWN_TOPIC_OR_PART)
    assert end(broker, topic) == 0
