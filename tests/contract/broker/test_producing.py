"""What the producer of everyone but the deciders does: order, reports, refusals, and a broker that is away."""

from typing import Any

import pytest
from confluent_kafka import OFFSET_END, KafkaError, KafkaException, TopicPartition

from services.runtime import ends
from tests.contract.broker.brokers import AnyBroker, Kafka
from tests.contract.broker.clients import SECONDS, end, plain, refused, settle, transactional, values, write


class Reports:
    """Delivery reports, in the order in which they came."""

    def __init__(self, broker: AnyBroker, client: Any) -> None:
        self._broker, self._client = broker, client
        self.told: list[tuple[int | None, int | None]] = []  # code of the error, offset

    def produce(self, topic: str, *records: bytes, partition: int = 0) -> None:
        """Produce records and keep their reports."""
        for value in records:
            self._client.produce(topic, value, "k", partition, on_delivery=self._hear)

    def serve(self, seconds: float) -> None:
        """Hear what is told within so long."""
        self._client.poll(seconds)

    def await_all(self, number: int) -> list[tuple[int | None, int | None]]:
        """Wait for so many reports."""
        self._broker.eventually(lambda: len(self.told) >= number or self._client.poll(0.1) < 0)
        return self.told

    def _hear(self, error: KafkaError | None, message: Any) -> None:
        self.told.append((error.code() if error else None, message.offset()))


@pytest.fixture
def mortal(broker: AnyBroker) -> AnyBroker:
    """A broker that can be let stand still."""
    if isinstance(broker, Kafka) and not broker.mortal:
        pytest.skip("needs a broker whose process the tests may stop; JOBLEDGER_KAFKA names another one")
    return broker


def test_records_keep_their_order_and_each_is_reported_with_its_offset(broker: AnyBroker, topic: str) -> None:
    reports = Reports(broker, plain(broker))
    sent = [b"%d" % number for number in range(200)]
    for value in sent:
        reports.produce(topic, value)
        reports.serve(0.001)
    assert reports.await_all(200) == [(None, offset) for offset in range(200)]
    assert values(broker, topic) == sent
    assert end(broker, topic, 1) == 0


def test_a_record_that_is_too_large_is_refused_at_once_by_both_producers(broker: AnyBroker, topic: str) -> None:
    sender, writer = plain(broker), transactional(broker)
    writer.begin_transaction()
    for client in (sender, writer):
        client.produce(topic, bytes(999_000), "k", 0)
        for size in (999_999, 1_000_001):
            error = refused(lambda client=client, size=size: client.produce(topic, bytes(size), "k", 0))
            assert error.code() == KafkaError.MSG_SIZE_TOO_LARGE
    writer.commit_transaction(SECONDS)
    broker.eventually(lambda: sender.poll(0.1) or len(values(broker, topic)) == 2)


def test_a_topic_that_is_not_there_is_reported_and_a_partition_is_refused(broker: AnyBroker, topic: str) -> None:
    reports = Reports(broker, plain(broker, topic_metadata_propagation_max_ms=300))
    reports.produce("nobody.made.this", b"1")
    assert reports.await_all(1) == [(KafkaError.UNKNOWN_TOPIC_OR_PART, None)]
    reports.produce(topic, b"2")
    assert reports.await_all(2)[1:] == [(None, 0)]
    assert refused(lambda: reports.produce(topic, b"3", partition=2)).code() == KafkaError._UNKNOWN_PARTITION


def test_a_short_outage_is_waited_out_and_every_record_lands_once_and_in_order(mortal: AnyBroker, topic: str) -> None:
    reports = Reports(mortal, plain(mortal))
    reports.produce(topic, b"0")
    reports.await_all(1)
    with mortal.away(1.0):
        reports.produce(topic, *[b"%d" % number for number in range(1, 30)])
    assert reports.await_all(30) == [(None, offset) for offset in range(30)]
    assert values(mortal, topic) == [b"%d" % number for number in range(30)]


def test_a_record_that_was_given_up_may_have_landed_but_never_twice(mortal: AnyBroker, topic: str) -> None:
    reports = Reports(mortal, plain(mortal, delivery_timeout_ms=1000))
    reports.produce(topic, b"0")
    reports.await_all(1)
    with mortal.away(2.5):
        reports.produce(topic, b"1", b"2")
        assert reports.await_all(3)[1:] == [(KafkaError._MSG_TIMED_OUT, None)] * 2
    reports.produce(topic, b"3")
    [(error, offset)] = reports.await_all(4)[3:]
    assert error is None
    found = values(mortal, topic)
    assert found in ([b"0", b"3"], [b"0", b"1", b"2", b"3"], [b"0", b"1", b"3"])
    assert offset == len(found) - 1


def test_a_broker_that_is_away_fails_every_call_in_its_time_and_none_has_an_effect(
    mortal: AnyBroker, topic: str
) -> None:
    writer = transactional(mortal)
    write(writer, topic, b"0")
    asking = mortal.consumer(ends._config(mortal.settings, "read_committed"))
    with mortal.away(4.0):
        writer.produce(topic, b"1", b"k", 0)
        assert refused(lambda: writer.commit_transaction(1.0)).code() == KafkaError._TIMED_OUT
        with pytest.raises(KafkaException):
            asking.offsets_for_times([TopicPartition(topic, 0, OFFSET_END)], timeout=1.0)
        with pytest.raises(KafkaException):
            asking.list_topics(topic, timeout=1.0)
    transactional(mortal)
    assert values(mortal, topic) == []
    assert settle(mortal, topic) >= 2
