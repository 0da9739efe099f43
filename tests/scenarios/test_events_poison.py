"""Scenario 34 on the topic that everything else is made of: an undecodable record among the events of an org."""

import asyncio
import hashlib
from contextlib import closing

import psycopg
import pytest

from projections.__main__ import main as project
from projections.verify import verify
from services.runtime import topics
from services.runtime.metrics import exposition
from services.runtime.producer import Producer
from services.runtime.settings import Settings
from tests.eventually import eventually
from tests.integration.junk.consumers import running
from tests.integration.junk.records import Letters, said_of
from tests.integration.projections.following import Partition

pytestmark = pytest.mark.kafka
PARTITION = 2
SECONDS = 60.0  # of a machine under load; it takes well under one
JUNK = b"\xff\x00\xfe"


async def test_34_junk_among_events_is_parked_and_the_ten_events_behind_it_are_folded(ledger: Settings) -> None:
    partition = await asyncio.to_thread(Partition, ledger, PARTITION)
    topic, letters = topics.events(ledger), Letters(ledger)
    with closing(Producer(ledger, "test")) as producer:
        producer.start()
        await asyncio.to_thread(partition.say, iter(()), producer)  # the org is there
        before = len(partition.stream.events)
        org_id = partition.stream.events[-1].event.org_id
        alarm = alarms(topic)
        async with running(project, ledger) as projection:
            await eventually(lambda: folded(ledger)[0] == before, SECONDS)
            await producer.send(topic, PARTITION, org_id, JUNK)
            job = partition.stream.submit()
            partition.stream.dispatch(job)
            partition.stream.claim(job)
            while len(partition.stream.events) < before + 10:
                partition.stream.visit(job)
            await asyncio.to_thread(partition.say, iter(()), producer)
            await eventually(lambda: folded(ledger)[0] == before + 10, SECONDS)
            await eventually(letters.read, SECONDS)
            await eventually(lambda: lag() == 0.0, SECONDS)
            assert not projection.done()
    [letter] = letters.all
    letters.close()
    said = said_of(letter)
    offset = int(said["offset"])
    assert (said["topic"], said["partition"], said["reason"]) == (topic, str(PARTITION), "bad_message")
    assert (said["bytes"], said["sha256"], letter.value) == ("3", hashlib.sha256(JUNK).hexdigest(), JUNK)
    assert offset == before
    assert folded(ledger) == (before + 10, offset + 11)
    assert alarms(topic) == alarm + 1
    report = await asyncio.to_thread(verify, ledger)
    assert (report.faults, report.strangers) == ([], 1)


def folded(settings: Settings) -> tuple[int, int]:
    """Return position and next offset of the checkpoint."""
    query = "SELECT position, next_offset FROM ledger_v1.checkpoints WHERE partition = %s"
    with psycopg.connect(settings.postgres) as connection:
        return connection.execute(query, (PARTITION,)).fetchone() or (0, 0)


def alarms(topic: str) -> float:
    """Return what an alarm on dead letters of this topic looks at."""
    return value_of(f'jobledger_dead_letters_total{{origin="{topic}",reason="bad_message"}}') or 0.0


def lag() -> float | None:
    return value_of(f'jobledger_lag{{partition="{PARTITION}",process="postgres"}}')


def value_of(series: str) -> float | None:
    found = [line.rpartition(" ")[2] for line in exposition().decode().splitlines() if line.startswith(series)]
    return float(found[0]) if found else None
