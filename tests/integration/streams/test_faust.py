"""Faust on a real broker: what it does to records, with and without our correction of its consumer."""

import asyncio
from pathlib import Path
from typing import Any

import confluent_kafka
import faust
import pytest
from faust.transport.drivers.aiokafka import Transport

from services.runtime.kafka import client_config
from services.runtime.producer import Producer
from services.runtime.reader import LogReader, Record
from services.runtime.settings import Settings
from services.runtime.topics import partition_of_org, tasks
from services.streams.app import StreamFault, raw_topic, running, stream_app, until_it_stops
from services.streams.consumer import MAX_POLL_INTERVAL_MS
from tests.eventually import eventually
from tests.integration.streams.taking import KIND, Taking, Transactions, committed, consuming

pytestmark = pytest.mark.kafka
FIRST, SECOND = [b"task-%d" % n for n in range(10, 13)], [b"task-14", b"task-15", b"task-16"]
PADDING = [b"task-%d" % n for n in range(10)]


def plant_a_marker_before_task_14(settings: Settings) -> None:
    """Records 0 to 12, a transaction marker at offset 13, and records 14 to 16."""
    transactions = Transactions(settings)
    transactions.put(*PADDING, *FIRST)
    transactions.put(*SECOND)


def is_task_14(record: Record) -> bool:
    """Whether this is the record after the marker."""
    return record.value == b"task-14"


async def test_a_task_after_a_transaction_marker_is_not_lost_when_the_worker_dies_before_its_claim(
    ledger: Settings,
) -> None:
    plant_a_marker_before_task_14(ledger)
    before = Taking(hold=is_task_14)
    async with consuming(ledger, before):
        await eventually(lambda: len(before.taken) == 16)
        await eventually(lambda: committed(ledger) >= 0)
    assert committed(ledger) == 13
    after = Taking()
    async with consuming(ledger, after):
        await eventually(lambda: len(after.taken) == 3)
        await eventually(lambda: committed(ledger) == 17)
    assert [(offset, value) for _, offset, value in after.taken] == [(14, SECOND[0]), (15, SECOND[1]), (16, SECOND[2])]


async def test_plain_faust_commits_past_the_running_task_after_a_marker(ledger: Settings) -> None:
    """The fact behind the correction: when this fails, Faust has been repaired and the correction can go."""
    plant_a_marker_before_task_14(ledger)
    app = stream_app(ledger, f"{ledger.topic_prefix}.workers-{KIND}.v1")
    app.transport = Transport(app.conf.broker_consumer, app)
    taken = list[bytes]()

    @app.agent(raw_topic(app, tasks(ledger, KIND)))
    async def agent(stream: Any) -> None:
        async for event in stream.noack().events():
            taken.append(event.value)
            if event.value != b"task-14":
                event.ack()

    async with running(app):
        await eventually(lambda: len(taken) == 16)
        await eventually(lambda: committed(ledger) > 14)


async def test_an_aborted_record_is_never_processed(ledger: Settings) -> None:
    transactions = Transactions(ledger)
    transactions.put(b"good-1")
    transactions.put(b"aborted", commit=False)
    transactions.put(b"good-2")
    taking = Taking()
    async with consuming(ledger, taking):
        await eventually(lambda: b"good-2" in taking.values())
    assert taking.values() == [b"good-1", b"good-2"]


@pytest.mark.parametrize("codec", ["none", "gzip", "snappy", "lz4", "zstd"])
async def test_a_record_is_read_whatever_it_was_compressed_with(ledger: Settings, codec: str) -> None:
    value = b"compressible " * 100
    producer = confluent_kafka.Producer({**client_config(ledger, "test"), "compression.type": codec})
    producer.produce(tasks(ledger, KIND), value, partition=0)
    producer.flush(10)
    taking = Taking()
    async with consuming(ledger, taking):
        await eventually(lambda: taking.values() == [value])


async def test_the_correction_of_the_consumer_is_in_effect(ledger: Settings) -> None:
    async with consuming(ledger, Taking()) as app:
        await eventually(app.consumer.assignment)
        consumer: Any = app.consumer
        reader = consumer._thread._consumer
        assert reader._isolation_level == "read_committed"
        assert reader._fetch_max_wait_ms == 500
        assert reader._coordinator._max_poll_interval == MAX_POLL_INTERVAL_MS / 1000
    assert faust.__version__ == "0.15.3", "look whether services.streams.consumer still fits this version"


async def test_commits_keep_up_with_many_small_transactions(ledger: Settings) -> None:
    transactions = Transactions(ledger)
    for number in range(30):
        transactions.put(b"task-%d" % number)
    taking = Taking()
    async with consuming(ledger, taking):
        await eventually(lambda: len(taking.taken) == 30)
        await eventually(lambda: committed(ledger) == 59, seconds=5)


async def test_an_error_of_a_handler_reaches_the_process_and_is_never_acked(ledger: Settings) -> None:
    Transactions(ledger).put(b"task-1", b"task-2", b"task-3")
    taking = Taking()

    async def handle(record: Record, done: Any) -> None:
        if record.value == b"task-2":
            raise ZeroDivisionError
        await Taking.handle(taking, record, done)

    taking.handle = handle  # type: ignore[method-assign]
    async with consuming(ledger, taking):
        with pytest.raises(ZeroDivisionError):
            await asyncio.wait_for(taking.fault, 10)
    assert taking.values() == [b"task-1"]
    assert committed(ledger) == 1


async def test_an_exception_in_a_plain_agent_without_acks_is_not_acked_either(ledger: Settings) -> None:
    Transactions(ledger).put(b"task-1", b"task-2")
    app = stream_app(ledger, f"{ledger.topic_prefix}.workers-{KIND}.v1")
    seen = list[bytes]()

    @app.agent(raw_topic(app, tasks(ledger, KIND)))
    async def agent(stream: Any) -> None:
        async for event in stream.noack().events():
            seen.append(event.value)
            if event.value == b"task-2" and seen.count(b"task-2") == 1:
                raise ZeroDivisionError
            event.ack()

    async with running(app):
        await eventually(lambda: committed(ledger) == 1)
        await eventually(lambda: b"task-2" in seen)
    assert committed(ledger) == 1


async def test_records_lie_on_the_partition_that_was_named_by_both_producers(ledger: Settings) -> None:
    orgs = [f"org-{number}" for number in range(40)]
    producer = Producer(ledger, "test")
    producer.start()
    for org in orgs:
        await producer.send(tasks(ledger, KIND), partition_of_org(org, ledger.partitions), org, b"runtime")
    producer.close()
    Transactions(ledger).put(*(org.encode() for org in orgs), partition=None)
    reader = LogReader(ledger, tasks(ledger, KIND), dict.fromkeys(range(ledger.partitions), 0))
    found = list[tuple[str, int]]()
    async with asyncio.timeout(20):
        while len(found) < 2 * len(orgs):
            for record in await asyncio.to_thread(reader.poll, 100, 0.2):
                org = record.key if record.value == b"runtime" else record.value.decode()
                found.append((org, record.partition))
    reader.close()
    assert set(found) == {(org, partition_of_org(org, ledger.partitions)) for org in orgs}
    assert len({partition for _, partition in found}) == ledger.partitions


async def test_a_second_member_takes_over_half_of_the_partitions_and_no_record_is_left_out(ledger: Settings) -> None:
    transactions, first, second = Transactions(ledger), Taking(), Taking()
    orgs = [b"org-%d" % number for number in range(40)]
    async with consuming(ledger, first) as one:
        await eventually(lambda: len(one.consumer.assignment()) == ledger.partitions)
        transactions.put(*orgs[:20], partition=None)
        async with consuming(ledger, second) as two:
            transactions.put(*orgs[20:], partition=None)
            half = ledger.partitions // 2
            await eventually(lambda: len(one.consumer.assignment()) == len(two.consumer.assignment()) == half, 30)
            transactions.put(b"last-1", partition=0)
            transactions.put(b"last-2", partition=1)
            both = {b"last-1", b"last-2", *orgs}
            await eventually(lambda: set(first.values()) | set(second.values()) == both, 30)
    assert first.values()
    assert second.values()


async def test_the_process_hears_that_faust_stopped_by_itself(ledger: Settings) -> None:
    async with consuming(ledger, Taking()) as app:
        await eventually(app.consumer.assignment)
        watching = asyncio.create_task(until_it_stops(app))
        await app.consumer.crash(RuntimeError("the broker is gone"))
        with pytest.raises(StreamFault) as raised:
            await asyncio.wait_for(watching, 10)
        assert str(raised.value.__cause__) == "the broker is gone"


async def test_faust_leaves_nothing_in_the_working_directory(
    ledger: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with consuming(ledger, Taking()) as app:
        await eventually(app.consumer.assignment)
    assert await asyncio.to_thread(lambda: list(tmp_path.iterdir())) == []
