"""Events are found by position in a real log with markers, aborted records and fences between them."""

import random
from collections.abc import Iterator, Sequence
from contextlib import closing

import pytest

from services.runtime.errors import LogGap
from services.runtime.log_search import find_events
from services.runtime.reader import LogReader, Record
from services.runtime.settings import Settings
from services.runtime.strangers import position_of
from services.runtime.topics import events
from services.runtime.transactions import Outgoing, PartitionTransactions

PARTITION = 1


class CountingReader:
    """A LogReader that counts the looks."""

    def __init__(self, reader: LogReader) -> None:
        self.reader = reader
        self.looks = 0

    def go_to(self, partition: int, offset: int) -> None:
        self.looks += 1
        self.reader.go_to(partition, offset)

    def poll(self, max_records: int, timeout_seconds: float) -> list[Record]:
        return self.reader.poll(max_records, timeout_seconds)

    def at_end(self) -> bool:
        return self.reader.at_end()

    def end(self, partition: int) -> int:
        return self.reader.end(partition)


@pytest.fixture
def written(ledger: Settings) -> Iterator[tuple[Settings, int]]:
    """A partition of batches of every size: a long quiet time of single events, then crowds."""
    seed = random.Random(7)
    transactions = PartitionTransactions(ledger, PARTITION)
    transactions.open()
    transactions.fence(events(ledger), PARTITION)
    position = 0
    for size in [1] * 40 + [seed.choice((1, 3, 900)) for _ in range(12)]:
        batch: list[Outgoing] = []
        for _ in range(size):
            position += 1
            headers = [("ledger-position", str(position).encode())]
            batch.append(Outgoing(events(ledger), PARTITION, "acme", b"event %d" % position, headers))
        transactions.write(batch)
    yield ledger, position
    transactions.close()


@pytest.mark.kafka
def test_every_position_is_found_wherever_it_lies(written: tuple[Settings, int]) -> None:
    settings, last = written
    seed = random.Random(11)
    with closing(LogReader(settings, events(settings), {PARTITION: 0}, jumping=True)) as reader:
        counting = CountingReader(reader)
        for _ in range(30):
            wanted = sorted(seed.sample(range(1, last + 1), 5))
            found = list(find_events(counting, events(settings), PARTITION, wanted))
            assert [position_of(record) for record in found] == wanted
            assert [record.value for record in found] == [b"event %d" % position for position in wanted]
    assert counting.looks <= 30 * 5 * 8, "a handful of looks for each"


@pytest.mark.kafka
@pytest.mark.parametrize("beyond", [1, 10_000])
def test_a_position_behind_the_end_is_a_gap(written: tuple[Settings, int], beyond: int) -> None:
    settings, last = written
    with closing(LogReader(settings, events(settings), {PARTITION: 0}, jumping=True)) as reader:
        with pytest.raises(LogGap, match=f"no event at position {last + beyond}"):
            list(find_events(reader, events(settings), PARTITION, [last + beyond]))
        assert _values(find_events(reader, events(settings), PARTITION, [1, last])) == [b"event 1", b"event %d" % last]


@pytest.mark.kafka
def test_a_resting_reader_goes_on_where_it_is_sent(written: tuple[Settings, int]) -> None:
    settings, last = written
    with closing(LogReader(settings, events(settings), {PARTITION: 0}, jumping=True)) as reader:
        reader.rest()
        assert reader.poll(10, 0.2) == []
        assert _values(find_events(reader, events(settings), PARTITION, [last])) == [b"event %d" % last]


def _values(records: Iterator[Record]) -> Sequence[bytes]:
    return [record.value for record in records]
