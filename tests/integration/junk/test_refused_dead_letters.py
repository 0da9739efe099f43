"""When the topic of dead letters refuses, the consumer stops and nothing is lost: it goes on once the topic accepts."""

import asyncio

import confluent_kafka
import pytest

from services.runtime import topics
from services.runtime.errors import RecordRefused
from services.runtime.kafka import client_config
from services.runtime.settings import Settings
from tests.eventually import eventually
from tests.integration.junk.consumers import CONSUMERS, Consumer, running
from tests.integration.junk.records import PARTITION, Letters, Planted, limit_records, plant, said_of, to_be_said

pytestmark = pytest.mark.kafka
SECONDS = 60.0
NOTHING, EVERYTHING = 1, 1_048_588  # bytes of the largest record that a topic takes


@pytest.mark.parametrize("consumer", CONSUMERS, ids=lambda consumer: consumer.name)
async def test_a_consumer_stops_at_what_it_cannot_park_and_parks_it_when_it_is_started_again(
    ledger: Settings, consumer: Consumer
) -> None:
    settings, topic = consumer.settings(ledger), consumer.topic(ledger)
    planted = [*consumer.before, Planted(consumer.good(1)), Planted(b"junk", "bad_message"), Planted(consumer.good(2))]
    offset = len(planted) - 2
    await asyncio.to_thread(plant, settings, topic, PARTITION, planted)
    await asyncio.to_thread(limit_records, settings, topics.dead_letters(settings), NOTHING)
    for _ in range(2):
        with pytest.raises(ExceptionGroup) as stopped:
            await asyncio.wait_for(consumer.main(settings), SECONDS)
        assert stopped.value.subgroup(RecordRefused), stopped.value
        assert await asyncio.to_thread(committed, settings, consumer, topic) <= offset
    await asyncio.to_thread(limit_records, settings, topics.dead_letters(settings), EVERYTHING)
    letters = Letters(settings)
    async with consumer.watching(settings) as used, running(consumer.main, settings) as process:
        await eventually(lambda: "job-2" in used() or process.done(), SECONDS)
        await eventually(letters.read, SECONDS)
    letters.close()
    assert used() == {"job-1", "job-2"}
    assert [said_of(letter) for letter in letters.all] == [to_be_said(topic, PARTITION, offset, planted[offset])]


def committed(settings: Settings, consumer: Consumer, topic: str) -> int:
    """Return the offset that the group of a consumer has committed, below 0 where it has none, as a decider never."""
    group = consumer.group(settings)
    if not group:
        return -1
    place = confluent_kafka.TopicPartition(topic, PARTITION)
    client = confluent_kafka.Consumer(client_config(settings, "operator") | {"group.id": group})
    try:
        [found] = client.committed([place], timeout=30)
    finally:
        client.close()
    return int(found.offset)
