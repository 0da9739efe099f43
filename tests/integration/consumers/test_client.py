"""The client of the topic on a real broker, and the programs of docs/consumers.md."""

import asyncio
import os
import signal
import subprocess
import sys
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest

from schemas.client.checkpoint import Checkpoint
from schemas.client.errors import KafkaFault
from schemas.client.judging import Received
from schemas.client.reader import EventReader, follow, follow_in_group
from schemas.event import Event
from schemas.events import JobCancelled, JobCompleted, JobFailed
from services.localstack.stack import Stack
from services.runtime.admin import ensure_topics
from services.runtime.settings import settings_from
from tests.conftest import Databases
from tests.integration.consumers.page import programs
from tests.integration.consumers.topic import ENDED, Topic, played

pytestmark = pytest.mark.kafka
SECONDS = 60.0
TYPES: list[type[Event]] = [JobCompleted, JobFailed, JobCancelled]


@pytest.fixture(scope="module")
def topic(stack: Stack) -> Topic:
    """A topic of two partitions with everything that a reader may meet."""
    names = {"JOBLEDGER_TOPIC_PREFIX": f"test-{uuid.uuid4().hex[:12]}", "JOBLEDGER_PARTITIONS": "2"}
    settings = settings_from({**stack.environ, **names})
    ensure_topics(settings)
    topic = played(settings, 2, 60)
    topic.write()
    return topic


def read(reader: EventReader, most: int = 1_000_000) -> list[Received]:
    """Return what a reader gives out until it is at the end of the log, or has given so many."""
    found: list[Received] = []
    deadline = time.monotonic() + SECONDS
    while len(found) < most and not reader.at_end():
        assert time.monotonic() < deadline, reader.lag()
        batch = reader.poll(10, 0.2)
        found += batch.events
    return found


def places(received: list[Received]) -> list[tuple[int, int]]:
    return [(each.header.partition, each.header.position) for each in received]


@contextmanager
def following(topic: Topic, *, types: bool = True, starts: tuple[Checkpoint, ...] = ()) -> Iterator[EventReader]:
    """Follow a topic from its beginning, or from checkpoints."""
    kafka = {"bootstrap.servers": topic.settings.kafka}
    wanted = TYPES if types else None
    with follow(kafka, topic.name, topic.settings.registry, types=wanted, starts=starts) as reader:
        yield reader


def test_every_wanted_event_comes_once_past_junk_aborted_transactions_and_fences(topic: Topic) -> None:
    with following(topic, types=False) as reader:
        everything = read(reader)
        assert Counter(places(everything)) == Counter(topic.places())
        assert (reader.lag(), reader.counts.skipped, reader.counts.unknown) == ({0: 0, 1: 0}, 0, 0)
        strangers = reader.counts.strangers
    with following(topic) as reader:
        assert reader.lag().keys() == {0, 1}
        assert all(lag > 0 for lag in reader.lag().values())
        ended = read(reader)
        assert Counter(places(ended)) == Counter(topic.places(*ENDED))
        assert reader.counts.received == len(ended)
        assert 0 < reader.counts.strangers < strangers, "some of them say that they are of a type that is not wanted"


def test_it_goes_on_behind_any_checkpoint_and_behind_a_bare_position(topic: Topic) -> None:
    with following(topic) as reader:
        first = read(reader, most=2)
        checkpoints = tuple(judge.checkpoint for judge in reader._judges.values())
    with following(topic, starts=tuple(Checkpoint.parse(str(each)) for each in checkpoints)) as reader:
        rest = read(reader)
    assert Counter(places(first + rest)) == Counter(topic.places(*ENDED))
    bare = tuple(Checkpoint.parse(f"{partition}:20") for partition in (0, 1))
    with following(topic, types=False, starts=bare) as reader:
        assert set(places(read(reader))) == {place for place in topic.places() if place[1] > 20}


def test_a_bare_position_is_looked_for(topic: Topic, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("schemas.client.finding.NEAR", 4)
    for position in (33, max(position for _, position in topic.places())):
        start = (Checkpoint.parse(f"0:{position}"), Checkpoint.parse(f"1:{position}"))
        with following(topic, types=False, starts=start) as reader:
            assert set(places(read(reader))) == {place for place in topic.places() if place[1] > position}


def test_a_checkpoint_of_another_log_and_a_topic_that_is_not_there_say_what_to_do(topic: Topic) -> None:
    with (
        following(topic, starts=(Checkpoint.parse("0:90000@99999"),)) as reader,
        pytest.raises(KafkaFault, match="belongs to another log"),
    ):
        read(reader)
    with pytest.raises(KafkaFault, match="there is no topic"):
        follow({"bootstrap.servers": topic.settings.kafka}, "nothing.events", topic.settings.registry)


def test_a_group_goes_on_where_the_last_member_committed(topic: Topic) -> None:
    def join() -> EventReader:
        kafka = {"bootstrap.servers": topic.settings.kafka}
        return follow_in_group(kafka, topic.name, topic.settings.registry, f"{topic.name}.group", types=TYPES)

    committed: list[Received] = []
    lost: list[Received] = []
    deadline = time.monotonic() + SECONDS
    with join() as reader:
        while not lost:
            assert time.monotonic() < deadline
            batch = reader.poll(30, 0.2)
            if committed and batch.events:
                lost += batch.events
            else:
                committed += batch.events
                reader.commit(batch)
    with join() as reader:
        while not reader.at_end():
            assert time.monotonic() < deadline
            batch = reader.poll(30, 0.2)
            committed += batch.events
            reader.commit(batch)
        assert reader.lag() == dict.fromkeys(range(topic.settings.partitions), 0)
    assert Counter(places(committed)) == Counter(topic.places(*ENDED))
    assert set(places(lost)) < set(places(committed))


def test_the_program_of_the_page_keeps_every_event_exactly_once_killed_between_any_two_of_its_lines(
    topic: Topic, databases: Databases
) -> None:
    wanted = sorted(topic.places(*ENDED))
    assert len(wanted) > 3
    command = [sys.executable, "-m", "tests.integration.consumers.killing", "exactly-once", "12"]
    postgres = databases.fresh()
    environ = {**os.environ, **topic.environ, "POSTGRES": postgres}
    ran = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert ran.returncode == 0, ran.stderr[-2000:]
    with psycopg.connect(postgres) as store:
        rows = store.execute("SELECT partition, position FROM ended_jobs ORDER BY 1, 2").fetchall()
    assert rows == wanted
    databases.drop(postgres)
    assert int(ran.stdout) > 15, "setting up, reading and writing each were killed"


async def test_the_program_of_a_group_tells_each_failed_job_and_leaves_when_it_is_told_to(topic: Topic) -> None:
    wanted = {f"{partition}:{position}" for partition, position in topic.places("JobFailed")}
    assert wanted
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", programs()["group"], env={**os.environ, **topic.environ}, stdout=asyncio.subprocess.PIPE
    )
    told: list[str] = []
    async with asyncio.timeout(SECONDS):
        while len(told) < len(wanted):
            assert process.stdout is not None
            told.append((await process.stdout.readline()).decode().split(" ")[0])
        process.send_signal(signal.SIGTERM)
        assert await process.wait() == 0
    assert sorted(told) == sorted(wanted)
