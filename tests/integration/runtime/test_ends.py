"""Where a topic ends, asked again and again."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import confluent_kafka
import pytest

from services.localstack.places import StackDir
from services.localstack.stack import Stack
from services.runtime import topics
from services.runtime.admin import ensure_topics
from services.runtime.ends import Ends, committed_end
from services.runtime.errors import BrokerFault
from services.runtime.producer import Producer
from services.runtime.reader import LogReader
from services.runtime.settings import Settings, settings_from

ASKS = 100


async def test_it_tells_the_end_again_and_again_and_to_many_at_once(ledger: Settings) -> None:
    topic = topics.dead_letters(ledger)
    ends = Ends(ledger, topic)
    assert await ends.of([0]) == {0: 0}
    producer = Producer(ledger, "test")
    producer.start()
    await producer.send(topic, 0, "k", b"v")
    async with asyncio.timeout(2):  # a client of its own for each question would now and then take 3 s
        for _ in range(ASKS):
            assert await ends.of([0]) == {0: 1}
        assert await asyncio.gather(*(ends.of([0]) for _ in range(ASKS))) == [{0: 1}] * ASKS
    await asyncio.to_thread(producer.close)


@pytest.mark.kafka
async def test_what_a_transaction_has_not_committed_lies_behind_the_end(ledger: Settings) -> None:
    topic = topics.events(ledger)
    ends = Ends(ledger, topic)
    producer = confluent_kafka.Producer({"bootstrap.servers": ledger.kafka, "transactional.id": ledger.topic_prefix})
    await asyncio.to_thread(producer.init_transactions, 30)
    producer.begin_transaction()
    producer.produce(topic, b"v", partition=1)
    await asyncio.to_thread(producer.flush, 10)
    assert await ends.of([0, 1]) == {0: 0, 1: 0}
    asked = asyncio.create_task(ends.settled(1))
    done, _ = await asyncio.wait([asked], timeout=0.2)
    assert not done  # nobody knows yet what becomes of that record
    assert await ends.settled(0) == 0
    await asyncio.to_thread(producer.commit_transaction, 10)
    assert await asked == 2


@pytest.mark.kafka
async def test_what_was_committed_before_the_question_lies_before_the_settled_end(ledger: Settings) -> None:
    topic = topics.events(ledger)
    ends = Ends(ledger, topic)
    producer = confluent_kafka.Producer({"bootstrap.servers": ledger.kafka, "transactional.id": ledger.topic_prefix})
    await asyncio.to_thread(producer.init_transactions, 30)
    for number in range(1, ASKS + 1):
        producer.begin_transaction()
        producer.produce(topic, b"v", partition=1)
        await asyncio.to_thread(producer.commit_transaction, 10)
        assert await ends.settled(1) == 2 * number  # `of` may still say 2 * number - 2: the marker is on its way


async def test_a_topic_that_is_not_there_is_a_fault(settings: Settings) -> None:
    with pytest.raises(BrokerFault, match="does not tell"):
        await Ends(settings, "nobody.made.this").of([0])


@pytest.fixture
def own_stack(stack: Stack, tmp_path: Path) -> Iterator[Stack]:
    """A broker that may be stopped without harm to other tests."""
    own = Stack(StackDir(tmp_path), os.environ)
    try:
        own.start()
        yield own
    finally:
        own.stop()


async def _ask_until_it_raises(ends: Ends) -> None:
    """Ask again while the broker answers: a process that was told to stand still may answer once more."""
    while True:
        await ends.of([0])


@pytest.mark.kafka
async def test_a_broker_that_stands_still_is_a_fault_and_tells_again_when_it_goes_on(own_stack: Stack) -> None:
    settings = settings_from(own_stack.environ)
    await asyncio.to_thread(ensure_topics, settings)
    topic = topics.events(settings)
    ends = Ends(settings, topic)
    known = await asyncio.to_thread(committed_end, settings, topic, range(settings.partitions))
    reader = LogReader(settings, topic, {0: 0})
    assert reader.end(0) == 0
    [broker] = [
        process.identity.pid for process in own_stack.processes() if process.name == "broker" and process.identity
    ]
    os.kill(broker, signal.SIGSTOP)
    try:
        async with asyncio.timeout(12):
            with pytest.raises(BrokerFault):
                await _ask_until_it_raises(ends)
            with pytest.raises(BrokerFault):
                await asyncio.to_thread(committed_end, settings, topic, [0])
            with pytest.raises(BrokerFault):
                await asyncio.to_thread(reader.end, 0)
    finally:
        os.kill(broker, signal.SIGCONT)
    async with asyncio.timeout(30):
        found: dict[int, int] = {}
        while not found:
            with contextlib.suppress(BrokerFault):
                found = await ends.of(range(settings.partitions))
    assert found == known
    reader.close()
