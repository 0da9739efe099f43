"""The last records of a topic, asked for again and again through one client."""

from collections.abc import Iterator
from contextlib import closing

import confluent_kafka
import pytest

from services.runtime import topics
from services.runtime.ends import committed_end
from services.runtime.errors import BrokerFault
from services.runtime.heads import LastRecords
from services.runtime.settings import Settings

LOOK_BACK = 4


@pytest.fixture
def writer(ledger: Settings) -> confluent_kafka.Producer:
    """A producer of transactions."""
    config = {"bootstrap.servers": ledger.kafka, "transactional.id": ledger.topic_prefix}
    writer = confluent_kafka.Producer(config)
    writer.init_transactions(30)
    return writer


@pytest.fixture
def last(ledger: Settings) -> Iterator[LastRecords]:
    with closing(LastRecords(ledger, topics.events(ledger))) as last:
        yield last


def write(writer: confluent_kafka.Producer, topic: str, *places: tuple[int, bytes]) -> None:
    writer.begin_transaction()
    for partition, value in places:
        writer.produce(topic, value, partition=partition)
    writer.commit_transaction(30)


@pytest.mark.kafka
def test_it_finds_the_last_records_each_time_also_where_a_partition_has_grown(
    ledger: Settings, writer: confluent_kafka.Producer, last: LastRecords
) -> None:
    topic = topics.events(ledger)
    for number in range(LOOK_BACK):
        write(writer, topic, (1, b"%d" % number), (2, b"other"))
        written = {1: 2 * number + 2, 2: 2 * number + 2}
        while (ends := committed_end(ledger, topic, [1, 2])) != written:  # the marker is on its way
            assert all(ends[partition] <= end for partition, end in written.items())
        found = [(record.partition, record.value) for record in last.before(ends, LOOK_BACK)]
        assert (1, b"%d" % number) in found
        assert (2, b"other") in found
        assert len(found) <= 2 * LOOK_BACK // 2  # every second offset is a marker
        assert last.offsets({1: ends[1]}) == {1: ends[1] - 1}
    assert last.before({}) == []


def test_a_partition_that_is_not_there_is_a_fault_and_the_next_question_is_answered(
    ledger: Settings, last: LastRecords
) -> None:
    with pytest.raises(BrokerFault):
        last.before({77: 5})
    assert last.before(committed_end(ledger, topics.events(ledger), [0])) == []
