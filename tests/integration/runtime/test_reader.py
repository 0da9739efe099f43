"""The reader goes on exactly where it was told to, sees only what is committed, and stops at what is not there."""

import time

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from services.runtime.ends import committed_end, first_offsets
from services.runtime.errors import BrokerFault, LogGap
from services.runtime.reader import LogReader, Record
from services.runtime.settings import Settings
from services.runtime.topics import commands

DEADLINE_SECONDS = 20.0


def produce(settings: Settings, partition: int, *values: bytes) -> None:
    """Write plain records."""
    producer = Producer({"bootstrap.servers": settings.kafka})
    for value in values:
        producer.produce(commands(settings), value, b"acme", partition)
    assert producer.flush(DEADLINE_SECONDS) == 0


def read(reader: LogReader, wanted: int) -> list[Record]:
    """Poll until there are as many records as wanted."""
    found: list[Record] = []
    deadline = time.monotonic() + DEADLINE_SECONDS
    while len(found) < wanted and time.monotonic() < deadline:
        found += reader.poll(100, 0.2)
    return found


def read_to_end(reader: LogReader) -> list[Record]:
    """Poll until the reader says that it has seen everything."""
    found = reader.poll(100, 0.2)
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not reader.at_end():
        assert time.monotonic() < deadline
        found += reader.poll(100, 0.2)
    return found


def poll_until_it_raises(reader: LogReader) -> None:
    """Poll for as long as nothing is wrong."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while time.monotonic() < deadline:
        reader.poll(100, 0.2)


def test_reading_goes_on_at_the_given_offsets_of_several_partitions(ledger: Settings) -> None:
    produce(ledger, 0, b"a", b"b", b"c")
    produce(ledger, 2, b"x", b"y")
    reader = LogReader(ledger, commands(ledger), {0: 1, 2: 0})
    found = read(reader, 4)
    assert [(r.offset, r.value) for r in found if r.partition == 0] == [(1, b"b"), (2, b"c")]
    assert [(r.offset, r.value) for r in found if r.partition == 2] == [(0, b"x"), (1, b"y")]
    assert {r.key for r in found} == {"acme"}
    assert all(abs(r.timestamp_ms / 1000 - time.time()) < 60 for r in found)
    reader.close()


def test_at_most_as_many_records_come_as_asked_for_and_none_is_lost(ledger: Settings) -> None:
    produce(ledger, 0, *(b"%d" % number for number in range(50)))
    reader = LogReader(ledger, commands(ledger), {0: 0})
    found: list[Record] = []
    while len(found) < 50:
        batch = reader.poll(7, 5)
        assert len(batch) <= 7
        found += batch
    assert [r.offset for r in found] == list(range(50))
    reader.close()


def test_a_record_without_key_and_value_comes_with_both_empty(ledger: Settings) -> None:
    producer = Producer({"bootstrap.servers": ledger.kafka})
    producer.produce(commands(ledger), partition=0)
    producer.flush(DEADLINE_SECONDS)
    reader = LogReader(ledger, commands(ledger), {0: 0})
    [record] = read(reader, 1)
    assert (record.key, record.value, record.headers) == ("", b"", [])
    reader.close()


def test_an_empty_partition_is_at_its_end_and_what_comes_later_is_read(ledger: Settings) -> None:
    reader = LogReader(ledger, commands(ledger), {0: 0})
    assert read_to_end(reader) == []
    produce(ledger, 0, b"late")
    assert [r.value for r in read(reader, 1)] == [b"late"]
    reader.close()


@pytest.mark.kafka
def test_an_offset_beyond_the_end_is_a_gap_that_names_its_place_and_stays(ledger: Settings) -> None:
    reader = LogReader(ledger, commands(ledger), {1: 12_345})
    for _ in range(2):
        with pytest.raises(LogGap, match=rf"{commands(ledger)}, partition 1, offset 12345: not in the log"):
            poll_until_it_raises(reader)
    reader.close()


@pytest.mark.kafka
def test_an_offset_that_was_deleted_is_a_gap(ledger: Settings) -> None:
    produce(ledger, 0, b"a", b"b", b"c")
    client = AdminClient({"bootstrap.servers": ledger.kafka})
    for future in client.delete_records([TopicPartition(commands(ledger), 0, 2)]).values():
        future.result(DEADLINE_SECONDS)
    assert first_offsets(ledger, commands(ledger), [0]) == {0: 2}
    reader = LogReader(ledger, commands(ledger), {0: 0})
    with pytest.raises(LogGap, match="partition 0, offset 0"):
        poll_until_it_raises(reader)
    reader.close()


@pytest.mark.kafka
def test_only_committed_records_are_seen(ledger: Settings) -> None:
    producer = Producer({"bootstrap.servers": ledger.kafka, "transactional.id": f"{ledger.topic_prefix}.test"})
    producer.init_transactions(DEADLINE_SECONDS)
    for value, commit in ((b"kept", True), (b"aborted", False), (b"kept too", True)):
        producer.begin_transaction()
        producer.produce(commands(ledger), value, partition=0)
        producer.flush(DEADLINE_SECONDS)
        (producer.commit_transaction if commit else producer.abort_transaction)(DEADLINE_SECONDS)
    reader = LogReader(ledger, commands(ledger), {0: 0})
    assert [r.value for r in read_to_end(reader)] == [b"kept", b"kept too"]
    assert committed_end(ledger, commands(ledger), [0]) == {0: 6}, "three records, three markers"
    assert reader.next_offsets() == {0: 6}
    producer.begin_transaction()
    producer.produce(commands(ledger), b"open", partition=0)
    producer.flush(DEADLINE_SECONDS)
    assert committed_end(ledger, commands(ledger), [0]) == {0: 6}, "an open transaction is not committed"
    producer.abort_transaction(DEADLINE_SECONDS)
    reader.close()


@pytest.mark.kafka
def test_the_ends_of_topics_are_told_per_partition(ledger: Settings) -> None:
    produce(ledger, 3, b"a", b"b")
    assert committed_end(ledger, commands(ledger), range(4)) == {0: 0, 1: 0, 2: 0, 3: 2}
    assert first_offsets(ledger, commands(ledger), range(4)) == {0: 0, 1: 0, 2: 0, 3: 0}


@pytest.mark.kafka
def test_a_reader_tells_where_its_partition_ends_before_it_has_read_that_far(ledger: Settings) -> None:
    reader = LogReader(ledger, commands(ledger), {0: 0})
    assert read_to_end(reader) == []  # a partition that was just made may have no leader yet
    assert reader.end(0) == 0
    produce(ledger, 0, b"a", b"b")
    assert reader.end(0) == 2
    assert [r.value for r in read(reader, 2)] == [b"a", b"b"]
    reader.close()


@pytest.mark.parametrize(("topic", "partition"), [("no-such-topic", 0), ("commands", 99)])
def test_a_partition_that_is_not_there_is_an_error_at_once(ledger: Settings, topic: str, partition: int) -> None:
    with pytest.raises(BrokerFault, match=rf"has no partition {partition}.*jobledger up"):
        LogReader(ledger, f"{ledger.topic_prefix}.{topic}", {partition: 0})
