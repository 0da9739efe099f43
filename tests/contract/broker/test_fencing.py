"""A start under a transactional id ends every earlier one, and what it sees then is decided for good."""

from confluent_kafka import KafkaError

from tests.contract.broker.brokers import AnyBroker
from tests.contract.broker.clients import FENCED, SECONDS, commit, end, refused, transactional, values, write


def test_the_older_one_cannot_commit_what_it_has_open(broker: AnyBroker, topic: str) -> None:
    older = transactional(broker)
    write(older, topic, b"older")
    transactional(broker)
    assert refused(lambda: older.commit_transaction(SECONDS)).code() == FENCED
    assert values(broker, topic) == []


def test_what_the_older_one_has_still_queued_does_not_land_either(broker: AnyBroker, topic: str) -> None:
    older = transactional(broker, linger_ms=500)
    older.begin_transaction()
    older.produce(topic, b"queued", b"k", 0)
    newer = transactional(broker)
    commit(newer, topic, b"newer")

    def goes_on() -> None:
        older.poll(0)
        older.flush(SECONDS)
        older.commit_transaction(SECONDS)

    assert refused(goes_on).code() == FENCED
    broker.eventually(lambda: values(broker, topic) == [b"newer"])


def test_the_older_one_cannot_begin_anything_new(broker: AnyBroker, topic: str) -> None:
    older = transactional(broker)
    commit(older, topic, b"1")
    newer = transactional(broker)
    assert refused(lambda: commit(older, topic, b"2")).code() == FENCED
    assert refused(lambda: commit(older, topic, b"3")).code() in (FENCED, KafkaError._CONFLICT)  # what it left behind
    commit(newer, topic, b"4")
    broker.eventually(lambda: values(broker, topic) == [b"1", b"4"])


def test_of_three_only_the_newest_writes(broker: AnyBroker, topic: str) -> None:
    first, second, third = (transactional(broker) for _ in range(3))
    assert refused(lambda: commit(second, topic, b"2")).code() == FENCED
    assert refused(lambda: commit(first, topic, b"1")).code() == FENCED
    commit(third, topic, b"3")
    broker.eventually(lambda: values(broker, topic) == [b"3"])


def test_a_start_under_another_id_ends_nothing(broker: AnyBroker, topic: str) -> None:
    one = transactional(broker, 0)
    write(one, topic, b"open")
    transactional(broker, 1)
    assert end(broker, topic) == 0
    one.commit_transaction(SECONDS)
    broker.eventually(lambda: values(broker, topic) == [b"open"])


def test_once_the_newer_one_has_started_everything_of_the_older_is_decided(broker: AnyBroker, topic: str) -> None:
    older = transactional(broker)
    commit(older, topic, b"committed")  # its marker may still be on its way
    newer = transactional(broker)
    assert end(broker, topic) == end(broker, topic, 0, "read_uncommitted") == 2
    assert values(broker, topic) == [b"committed"]
    write(newer, topic, b"open")
    transactional(broker)
    assert end(broker, topic) == end(broker, topic, 0, "read_uncommitted") == 4
    assert values(broker, topic) == [b"committed"]
