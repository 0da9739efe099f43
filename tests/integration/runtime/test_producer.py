"""Whoever sent a record hears what became of it, in all circumstances."""

import asyncio
import dataclasses
import time
from collections.abc import Iterator

import confluent_kafka
import pytest

from services.runtime import producer as producer_module
from services.runtime.errors import BrokerFault, NotDelivered, RecordRefused
from services.runtime.producer import Producer
from services.runtime.reader import LogReader
from services.runtime.settings import Settings
from services.runtime.topics import commands

DEADLINE_SECONDS = 20.0


@pytest.fixture
def brokerless(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Producer]:
    """A producer whose broker does not answer, and that gives up after a second."""
    monkeypatch.setattr(producer_module, "DELIVERY_SECONDS", 1.0)
    producer = Producer(dataclasses.replace(settings, kafka="127.0.0.1:9"), "test")
    producer.start()
    yield producer
    producer.close()


def values(settings: Settings, wanted: int) -> list[bytes]:
    """Read partition 0 of the commands."""
    reader = LogReader(settings, commands(settings), {0: 0})
    found: list[bytes] = []
    deadline = time.monotonic() + DEADLINE_SECONDS
    while len(found) < wanted and time.monotonic() < deadline:
        found += [record.value for record in reader.poll(1000, 0.2)]
    reader.close()
    return found


async def test_thousands_of_sends_at_once_are_all_acknowledged(ledger: Settings, producer: Producer) -> None:
    await asyncio.gather(*(producer.send(commands(ledger), 0, "", b"%d" % number) for number in range(5000)))
    found = await asyncio.to_thread(values, ledger, 5000)
    assert sorted(found) == sorted(b"%d" % number for number in range(5000))


async def test_a_full_queue_is_waited_out(ledger: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    original = producer_module._config
    monkeypatch.setattr(
        producer_module, "_config", lambda *given: original(*given) | {"queue.buffering.max.messages": 10}
    )
    producer = Producer(ledger, "small")
    producer.start()
    await asyncio.gather(*(producer.send(commands(ledger), 0, "", b"x") for _ in range(200)))
    await asyncio.to_thread(producer.close)
    assert len(await asyncio.to_thread(values, ledger, 200)) == 200


async def test_a_record_that_nobody_acknowledges_raises_to_its_awaiter(brokerless: Producer) -> None:
    with pytest.raises(NotDelivered, match=r"partition 3 not acknowledged.*_MSG_TIMED_OUT"):
        async with asyncio.timeout(DEADLINE_SECONDS):
            await brokerless.send("test.commands", 3, "", b"x")


def test_a_record_produced_without_waiting_raises_at_the_flush_and_only_there(brokerless: Producer) -> None:
    brokerless.produce("test.commands", 3, "", b"x")
    with pytest.raises(NotDelivered, match="partition 3"):
        brokerless.flush(DEADLINE_SECONDS)
    brokerless.flush(DEADLINE_SECONDS)


def test_a_flush_that_does_not_come_to_its_end_says_how_much_is_left(brokerless: Producer) -> None:
    brokerless.produce("test.commands", 3, "", b"x")
    with pytest.raises(NotDelivered, match=r"1 records not acknowledged within 0.1 s"):
        brokerless.flush(0.1)
    with pytest.raises(NotDelivered, match="partition 3"):
        brokerless.flush(DEADLINE_SECONDS)


@pytest.mark.kafka
async def test_an_unknown_topic_or_partition_is_refused(ledger: Settings, producer: Producer) -> None:
    with pytest.raises(RecordRefused):
        await producer.send(commands(ledger), 99, "", b"x")
    with pytest.raises(RecordRefused):
        await producer.send(f"{ledger.topic_prefix}.nowhere", 0, "", b"x")


async def test_a_send_whose_awaiter_was_cancelled_disturbs_nobody(ledger: Settings, producer: Producer) -> None:
    sending = asyncio.create_task(producer.send(commands(ledger), 0, "", b"x"))
    await asyncio.sleep(0)
    sending.cancel()
    await producer.send(commands(ledger), 0, "", b"y")
    assert sending.cancelled()


async def test_closing_delivers_what_was_produced(ledger: Settings) -> None:
    producer = Producer(ledger, "test")
    producer.start()
    for number in range(100):
        producer.produce(commands(ledger), 0, "", b"%d" % number)
    await asyncio.to_thread(producer.close)
    assert len(await asyncio.to_thread(values, ledger, 100)) == 100


async def test_closing_without_a_broker_raises_and_frees_every_awaiter(settings: Settings) -> None:
    producer = Producer(dataclasses.replace(settings, kafka="127.0.0.1:9"), "test")
    producer.start()
    sending = asyncio.create_task(producer.send("test.commands", 0, "", b"x"))
    await asyncio.sleep(0)
    with pytest.raises(NotDelivered, match="1 records not acknowledged"):
        await asyncio.to_thread(producer.close, 0.1)
    with pytest.raises(NotDelivered):
        async with asyncio.timeout(DEADLINE_SECONDS):
            await sending


async def test_a_closed_producer_says_so(ledger: Settings) -> None:
    producer = Producer(ledger, "test")
    producer.start()
    producer.close()
    with pytest.raises(BrokerFault, match="closed"):
        await producer.send(commands(ledger), 0, "", b"x")


def test_a_producer_that_was_never_started_can_be_closed(ledger: Settings) -> None:
    Producer(ledger, "test").close()


def test_an_error_that_the_client_cannot_cure_is_raised_by_whatever_comes_next(
    ledger: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    producer = Producer(ledger, "test")

    def poll(_seconds: float) -> int:
        raise BrokerFault("fenced for good")

    class Broken:
        def __init__(self, real: confluent_kafka.Producer) -> None:
            self.real = real

        def __getattr__(self, name: str) -> object:
            return poll if name == "poll" else getattr(self.real, name)

    monkeypatch.setattr(producer, "_kafka", Broken(producer._kafka))
    producer.start()
    deadline = time.monotonic() + DEADLINE_SECONDS
    while producer._broken is None:
        assert time.monotonic() < deadline
    with pytest.raises(BrokerFault, match="fenced for good"):
        producer.produce(commands(ledger), 0, "", b"x")
    with pytest.raises(BrokerFault, match="fenced for good"):
        producer.close()
