"""Scenario 91: a transaction that is open for long holds back what was written behind it; nothing is stepped over."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import confluent_kafka
import pytest

from projections.__main__ import main as project_postgres
from projections.checkpoints import clickhouse_checkpoints, postgres_checkpoints
from projections.clickhouse.__main__ import main as project_clickhouse
from schemas.client.reader import EventReader, follow
from services.runtime import topics
from services.runtime.errors import LogGap
from services.runtime.kafka import client_config
from services.runtime.reader import Record
from services.runtime.registry import encoder
from services.runtime.settings import Settings
from tests.event_streams import Stream, records_of
from tests.eventually import eventually
from tests.integration.clickhouse.conftest import clickhouse as clickhouse
from tests.integration.junk.consumers import running

pytestmark = pytest.mark.kafka
SECONDS = 60.0  # of a machine under load
LATER = 100


@contextmanager
def transaction(settings: Settings, name: str) -> Iterator[confluent_kafka.Producer]:
    """Lend a producer whose transaction is open."""
    config = client_config(settings, name) | {"transactional.id": f"{settings.topic_prefix}.{name}"}
    producer = confluent_kafka.Producer(config)
    producer.init_transactions()
    producer.begin_transaction()
    yield producer


def produce(producer: confluent_kafka.Producer, topic: str, records: list[Record]) -> None:
    for record in records:
        headers = [*record.headers]
        producer.produce(topic, record.value, record.key, record.partition, headers=headers)  # type: ignore[arg-type]
    assert producer.flush(30) == 0


def log_of(settings: Settings) -> list[Record]:
    """Return the records of a partition: the first ones, one of a slow transaction, and a hundred behind it."""
    stream = Stream(orgs=("acme",), encoder=encoder(settings)).open()
    first = len(stream.events)
    while len(stream.events) < first + 1 + LATER:
        stream.play([0, 3, 5, 4, 6, 10])
    return records_of(stream)[: first + 1 + LATER]


PROJECTIONS = {
    "postgres": (project_postgres, postgres_checkpoints),
    "clickhouse": (project_clickhouse, clickhouse_checkpoints),
}


@pytest.mark.usefixtures("clickhouse")
@pytest.mark.parametrize("into", PROJECTIONS)
@pytest.mark.parametrize("ends", ["committed", "aborted"])
async def test_91_a_slow_commit_is_waited_for_and_a_lost_one_stops_the_reader(
    ledger: Settings, ends: str, into: str
) -> None:
    project, checkpoints = PROJECTIONS[into]

    def folded(settings: Settings) -> int:
        return checkpoints(settings.postgres).get(0, 0)

    topic, records = topics.events(ledger), await asyncio.to_thread(log_of, ledger)
    first, slow, later = records[: -LATER - 1], records[-LATER - 1], records[-LATER:]
    kafka = {"bootstrap.servers": ledger.kafka}
    gap = pytest.raises(LogGap, match=f"position {len(first) + 2} follows {len(first)}")
    with (
        transaction(ledger, "first") as fast,
        follow(kafka, topic, ledger.registry, partitions=[0]) as consumer,
    ):
        produce(fast, topic, first)
        await asyncio.to_thread(fast.commit_transaction)
        with nullcontext() if ends == "committed" else gap:
            async with running(project, ledger) as projection:
                await eventually(lambda: folded(ledger) == len(first), SECONDS)
                with transaction(ledger, "slow") as holding:
                    produce(holding, topic, [slow])
                    for record in later:
                        fast.begin_transaction()
                        produce(fast, topic, [record])
                        await asyncio.to_thread(fast.commit_transaction)
                    assert await asyncio.to_thread(read, consumer, len(first)) == [*range(1, len(first) + 1)]
                    assert (folded(ledger), projection.done()) == (len(first), False), "it waits"
                    assert consumer.at_end(), "nobody sees behind the open one"
                    end = holding.commit_transaction if ends == "committed" else holding.abort_transaction
                    await asyncio.to_thread(end)
                if ends == "committed":
                    await eventually(lambda: folded(ledger) == len(records) or projection.done(), SECONDS)
                    assert folded(ledger) == len(records)
                    behind = [*range(len(first) + 1, len(records) + 1)]
                    assert await asyncio.to_thread(read, consumer, 1 + LATER) == behind, "101 of 101, in their order"
                    return
                await eventually(projection.done, SECONDS)
        assert folded(ledger) == len(first)


def read(consumer: EventReader, wanted: int) -> list[int]:
    """Return the positions of the next events, having looked whether there are more."""
    found: list[int] = []
    for _ in range(600):
        found += [each.header.position for each in consumer.poll(1000, 0.1).events]
        if len(found) >= wanted and consumer.at_end():
            break
    return found
