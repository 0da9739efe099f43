"""What every Sender does: the real producer and its fake."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

import pytest

from services.runtime.errors import RecordRefused
from services.runtime.producer import Producer, Sender
from services.runtime.reader import LogReader, Record
from services.runtime.settings import Settings
from services.runtime.topics import commands
from tests.fakes.producer import InMemoryProducer


@dataclass
class Case:
    """A sender, and a way to read what a partition then holds."""

    sender: Sender
    topic: str
    read: Callable[[int, int], list[Record]]  # partition, how many records to wait for


@pytest.fixture(params=["fake", "kafka"])
async def case(request: pytest.FixtureRequest) -> AsyncIterator[Case]:
    """One case per implementation."""
    if request.param == "fake":
        fake = InMemoryProducer()
        yield Case(fake, "test.commands", lambda partition, _: [r for r in fake.records if r.partition == partition])
        return
    settings: Settings = request.getfixturevalue("ledger")
    producer = Producer(settings, "contract")
    producer.start()

    def read(partition: int, wanted: int) -> list[Record]:
        reader = LogReader(settings, commands(settings), {partition: 0})
        found: list[Record] = []
        while len(found) < wanted or not reader.at_end():
            found += reader.poll(100, 1)
        reader.close()
        return found

    yield Case(producer, commands(settings), read)
    await asyncio.to_thread(producer.close)


async def test_a_sent_record_stands_on_its_partition_with_key_value_and_headers(case: Case) -> None:
    await case.sender.send(case.topic, 2, "acme", b"value", [("a", b"1"), ("a", b"2")])
    [record] = await asyncio.to_thread(case.read, 2, 1)
    assert (record.topic, record.partition, record.offset) == (case.topic, 2, 0)
    assert (record.key, record.value, record.headers) == ("acme", b"value", [("a", b"1"), ("a", b"2")])


async def test_records_sent_one_after_the_other_keep_their_order(case: Case) -> None:
    for number in range(20):
        await case.sender.send(case.topic, 1, "", b"%d" % number)
    records = await asyncio.to_thread(case.read, 1, 20)
    assert [record.value for record in records] == [b"%d" % number for number in range(20)]
    assert [record.offset for record in records] == list(range(20))


async def test_a_record_that_is_too_large_is_refused_and_not_written(case: Case) -> None:
    with pytest.raises(RecordRefused, match=r"partition 0"):
        await case.sender.send(case.topic, 0, "", bytes(1_000_001))
    assert await asyncio.to_thread(case.read, 0, 0) == []
