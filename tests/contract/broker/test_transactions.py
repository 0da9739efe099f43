"""What a transaction hides, and from whom."""

from tests.contract.broker.brokers import AnyBroker, records
from tests.contract.broker.clients import (
    SECONDS,
    commit,
    end,
    plain,
    reading,
    settle,
    to_the_end,
    transactional,
    values,
    write,
)


def test_records_are_hidden_until_the_commit_and_then_all_are_there(broker: AnyBroker, topic: str) -> None:
    writer = transactional(broker)
    write(writer, topic, b"1", b"2")
    assert values(broker, topic) == []
    assert values(broker, topic, "read_uncommitted") == [b"1", b"2"]
    assert (end(broker, topic), end(broker, topic, 0, "read_uncommitted")) == (0, 2)
    writer.commit_transaction(SECONDS)
    broker.eventually(lambda: values(broker, topic) == [b"1", b"2"])


def test_the_marker_may_come_after_the_commit_returned_and_takes_an_offset(broker: AnyBroker, topic: str) -> None:
    writer = transactional(broker)
    for number in range(1, 6):
        commit(writer, topic, b"%d" % number)
        assert end(broker, topic) in (2 * number - 2, 2 * number)  # not yet, or whole
        assert settle(broker, topic) == 2 * number
    messages, last = to_the_end(reading(broker, topic, 0))
    assert records(messages) == [(0, b"1"), (2, b"2"), (4, b"3"), (6, b"4"), (8, b"5")]
    assert last == 10  # behind the last marker, where no record is


def test_a_transaction_has_all_its_partitions_or_none(broker: AnyBroker, topic: str) -> None:
    writer = transactional(broker)
    write(writer, topic, b"0")
    writer.produce(topic, b"1", b"k", 1)
    writer.flush(SECONDS)
    assert [end(broker, topic, partition) for partition in (0, 1)] == [0, 0]
    writer.commit_transaction(SECONDS)
    assert [settle(broker, topic, partition) for partition in (0, 1)] == [2, 2]


def test_an_open_transaction_hides_what_others_commit_behind_it_and_nothing_before_it(
    broker: AnyBroker, topic: str
) -> None:
    before = [b"before"]
    one, other = transactional(broker, 0), transactional(broker, 1)
    commit(one, topic, *before)
    settle(broker, topic)
    write(one, topic, b"open")
    commit(other, topic, b"behind")
    sender = plain(broker)
    sender.produce(topic, b"plain", "k", 0)
    broker.eventually(lambda: sender.poll(0.1) or end(broker, topic, 0, "read_uncommitted") == 6)
    assert values(broker, topic) == before
    assert end(broker, topic) == 2
    one.commit_transaction(SECONDS)
    broker.eventually(lambda: values(broker, topic) == [*before, b"open", b"behind", b"plain"])


def test_an_open_transaction_hides_nothing_of_other_partitions(broker: AnyBroker, topic: str) -> None:
    one, other = transactional(broker, 0), transactional(broker, 1)
    write(one, topic, b"open", partition=1)
    commit(other, topic, b"there")
    assert settle(broker, topic) == 2
    assert end(broker, topic, 1) == 0


def test_aborted_records_are_never_read_but_keep_their_offsets(broker: AnyBroker, topic: str) -> None:
    write(transactional(broker), topic, b"aborted", b"aborted too")
    newer = transactional(broker)  # its start ends what the other left open
    assert settle(broker, topic) == 3
    commit(newer, topic, b"kept")
    settle(broker, topic)
    messages, last = to_the_end(reading(broker, topic, 0))
    assert records(messages) == [(3, b"kept")]
    assert last == 5
    assert values(broker, topic, "read_uncommitted") == [b"aborted", b"aborted too", b"kept"]


def test_a_transaction_without_records_leaves_no_marker(broker: AnyBroker, topic: str) -> None:
    writer = transactional(broker)
    commit(writer, topic)
    assert end(broker, topic, 0, "read_uncommitted") == 0
    commit(writer, topic, b"1")
    assert settle(broker, topic) == 2


def test_a_transaction_that_takes_too_long_is_aborted_and_its_writer_fenced(broker: AnyBroker, topic: str) -> None:
    slow = transactional(broker, transaction_timeout_ms=1000, message_timeout_ms=1000)
    write(slow, topic, b"too late")
    broker.eventually(lambda: end(broker, topic) == 2)
    assert values(broker, topic) == []
