"""Scenarios 32, 34 and 35 with a decider process and a real broker: killed timers, junk, records almost too large."""

import asyncio
import dataclasses
import hashlib
import signal
import time
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import confluent_kafka
import msgspec
import pytest

from schemas.events import RetryScheduled
from schemas.recorded import Recorded
from services.ledger.commands import ClaimTask, ReportProgress
from services.ledger.policy import SECOND
from services.ledger.replies import Granted
from services.ledger.reports import Failed, Outcome, RetryLater
from services.localstack.ports import port_for
from services.runtime import topics
from services.runtime.ids import uuid7
from services.runtime.reader import LogReader, Record
from services.runtime.settings import Settings
from tests.eventually import eventually
from tests.integration.workers.plant import ORG, Plant
from tests.unit.workers.fakes import service, workflow

RECORD_LIMIT_BYTES = 1_048_588  # of a batch that the broker takes
BATCH_BYTES = 61 + 21 + len(ORG)  # of a batch beside its only value: head, lengths, key
KILLS = 5
FORM = b"\xff\xfe\xfd"


@pytest.fixture
async def plant(settings: Settings, tmp_path: Path) -> AsyncIterator[Plant]:
    """A decider with its org, whose metrics can be read."""
    plant = Plant(dataclasses.replace(settings, port=port_for(tmp_path / "ports.json", "decider")), tmp_path)
    try:
        await plant.open(workflow(service("a")))
        yield plant
    finally:
        await plant.close()


def put(settings: Settings, *values: bytes) -> int:
    """Put bytes on the org's partition of the topic of commands, as a client without any limit of ours would."""
    offsets: list[int] = []
    client = confluent_kafka.Producer({"bootstrap.servers": settings.kafka, "message.max.bytes": 2_000_000})
    partition = topics.partition_of_org(ORG, settings.partitions)
    for value in values:
        client.produce(
            topics.commands(settings),
            value,
            ORG,
            partition,
            on_delivery=lambda error, message: offsets.append(-1 if error else message.offset() or 0),
        )
        client.flush(30)
    assert len(offsets) == len(values)
    assert min(offsets) >= 0
    return offsets[0]


async def letters(settings: Settings, count: int) -> list[Record]:
    """Return the first dead letters, once there are so many."""
    reader = LogReader(settings, topics.dead_letters(settings), {0: 0})
    found: list[Record] = []

    def enough() -> bool:
        found.extend(reader.poll(100, 0.1))
        return len(found) >= count

    try:
        await eventually(lambda: asyncio.to_thread(enough), 60)
    finally:
        reader.close()
    return found


async def metric(plant: Plant, name: str) -> float:
    """Return the sum of a metric of the decider over its labels."""
    url = f"http://127.0.0.1:{plant.settings.port}/metrics"
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        lines = (await answer.text()).splitlines()
    return sum(float(line.rpartition(" ")[2]) for line in lines if line.startswith(name))


async def test_34_junk_is_parked_with_its_place_and_digest_and_what_follows_is_decided(plant: Plant) -> None:
    first = put(plant.settings, FORM[:1], FORM[:2], FORM)
    jobs = [await plant.submit(f"/{number}") for number in range(10)]
    for job_id in jobs:
        await plant.until("JobSubmitted", job_id)
    found = await letters(plant.settings, 3)
    for number, letter in enumerate(found):
        headers = dict(letter.headers)
        value = FORM[: number + 1]
        assert letter.value == value
        assert headers["reason"] == b"bad_message"
        assert int(headers["origin-offset"]) == first + number
        assert headers["origin-topic"].decode() == topics.commands(plant.settings)
        assert headers["sha256"].decode() == hashlib.sha256(value).hexdigest()
    assert len(found) == 3
    assert await metric(plant, "jobledger_dead_letters_total{") == 3

    async def caught_up() -> bool:
        return await metric(plant, "jobledger_commands_waiting{") == 0

    await eventually(caught_up, 60)


async def test_35_a_record_ten_bytes_below_the_brokers_limit_is_parked_and_the_consumer_lives(plant: Plant) -> None:
    poison = b"\xff" * (RECORD_LIMIT_BYTES - BATCH_BYTES - 10)
    put(plant.settings, poison)
    job_id = await plant.submit("/after")
    await plant.until("JobSubmitted", job_id)
    [letter] = await letters(plant.settings, 1)
    headers = dict(letter.headers)
    assert headers["sha256"].decode() == hashlib.sha256(poison).hexdigest()
    assert int(headers["origin-bytes"]) == len(poison) > len(letter.value)
    assert poison.startswith(letter.value)
    assert all(process.poll() is None for process in plant.processes)


async def test_32_a_decider_process_that_is_killed_around_the_time_of_a_retry_dispatches_it_once(plant: Plant) -> None:
    decider = plant.processes[-1]
    for number in range(KILLS):
        job_id = await plant.submit(f"/{number}")
        await plant.until("JobDispatched", job_id)
        await said(plant, claim(job_id))
        later = RetryLater(node_id="a", try_number=2, delay_ms=400)
        await said(plant, report(job_id, later))
        scheduled = await plant.until("RetryScheduled", job_id)
        assert isinstance(scheduled, RetryScheduled)
        kill_at = scheduled.due_at / SECOND - 0.05 + 0.025 * number
        while time.time() < kill_at:  # noqa: ASYNC110  # a moment, not a state
            await asyncio.sleep(0.005)
        decider.send_signal(signal.SIGKILL)
        decider.wait()
        decider = plant.start("services.decider")
        await eventually(lambda job_id=job_id: dispatches(plant, job_id), 60)  # type: ignore[misc]
        assert dispatches(plant, job_id)[0].header.occurred_at >= scheduled.due_at
        granted = await said(plant, claim(job_id, dispatch=3))
        assert isinstance(granted, Granted)
        assert granted.attempt == 2
        await said(plant, report(job_id, Failed(error_type="test"), attempt=2))
        await plant.until("JobFailed", job_id)
        assert plant.history(job_id).count("RetryScheduled") == 1
        assert [each.event.attempt for each in plant.of("JobClaimed", job_id)] == [1, 2]


def dispatches(plant: Plant, job_id: str) -> list[Recorded]:
    """Return the dispatches of a job behind its first attempt."""
    return plant.of("JobDispatched", job_id, attempt=1)


def claim(job_id: str, dispatch: int = 1) -> ClaimTask:
    """Ask for a job as a worker."""
    return ClaimTask(
        command_id=uuid7(), org_id=ORG, job_id=job_id, dispatch=dispatch, worker_id="w", boot_id=f"b-{job_id}"
    )


def report(job_id: str, outcome: Outcome, attempt: int = 1) -> ReportProgress:
    """End an attempt."""
    return ReportProgress(
        command_id=uuid7(),
        org_id=ORG,
        job_id=job_id,
        attempt=attempt,
        worker_id="w",
        boot_id=f"b-{job_id}",
        outcome=outcome,
    )


async def said(plant: Plant, command: ClaimTask | ReportProgress) -> object:
    """Ask the decider; return what it answers."""
    commander = plant._commander
    asked = msgspec.structs.replace(command, requester=commander.boot_id)
    return (await commander.ask(plant._partition, asked, 60.0)).body
