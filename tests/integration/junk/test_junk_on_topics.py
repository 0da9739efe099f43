"""Junk on every topic that a process of ours reads: it is dead-lettered with its origin, and the partition moves on."""

import asyncio
from collections.abc import Iterator
from contextlib import closing

import pytest

from services.ledger.commands import CancelJob
from services.ledger.replies import Done, Reply
from services.ledger.warehouses import WAREHOUSES
from services.ledger.wire import REPLIES
from services.runtime import topics
from services.runtime.commander import Commander
from services.runtime.settings import Settings
from tests.eventually import eventually
from tests.fakes.decider import AnsweringDecider
from tests.integration.junk.consumers import CONSUMERS, Consumer, running
from tests.integration.junk.records import (
    FULL_BYTES,
    PARTITION,
    Letters,
    Planted,
    junk,
    limit_records,
    plant,
    said_of,
    task,
    to_be_said,
)

pytestmark = pytest.mark.kafka
SECONDS = 60.0
JOBS = {"job-1", "job-2", "job-3"}


@pytest.fixture
def letters(ledger: Settings) -> Iterator[Letters]:
    """The dead letters of this test."""
    with closing(Letters(ledger)) as letters:
        yield letters


def test_every_topic_of_the_ledger_has_its_test_here_or_a_reason() -> None:
    settings = Settings(kafka="", postgres="", registry="", blobs="")
    tested = {consumer.topic(settings) for consumer in CONSUMERS} | {topics.replies(settings)}
    elsewhere = {
        topics.events(settings),  # test_junk_in_the_log.py
        topics.dead_letters(settings),  # no process reads it: it is for people
        *(topics.deliveries(settings, kind) for kind in WAREHOUSES),  # read as those of customer_postgres are
    }
    assert tested | elsewhere == {topic.name for topic in topics.all_topics(settings)}


@pytest.mark.parametrize("consumer", CONSUMERS, ids=lambda consumer: consumer.name)
async def test_what_is_no_good_is_dead_lettered_and_the_records_behind_it_are_used(
    ledger: Settings, letters: Letters, consumer: Consumer
) -> None:
    settings = consumer.settings(ledger)
    planted = consumer.planted()
    topic = consumer.topic(settings)
    await asyncio.to_thread(plant, settings, topic, PARTITION, planted)
    bad = [(offset, record) for offset, record in enumerate(planted) if record.reason]
    async with consumer.watching(settings) as used, running(consumer.main, settings) as process:
        await eventually(lambda: used() >= JOBS or process.done(), SECONDS)
        assert not process.done(), process
        await eventually(lambda: _all_there(letters, len(bad)), SECONDS)
    assert used() == JOBS
    expected = [to_be_said(topic, PARTITION, offset, record) for offset, record in bad]
    assert [said_of(letter) for letter in letters.all] == expected
    assert [letter.value for letter in letters.all] == [record.value[: 900 * 1024] for _, record in bad]


async def test_what_is_no_reply_is_dead_lettered_by_whom_it_is_addressed_to_and_the_next_reply_is_heard(
    ledger: Settings, letters: Letters
) -> None:
    commander, bystander = Commander(ledger, "test"), Commander(ledger, "test")
    topic, partition = topics.replies(ledger), topics.reply_partition(commander.boot_id)
    good = REPLIES.encode(Reply(command_id="c", requester=commander.boot_id, body=Done()))
    theirs = REPLIES.encode(Reply(command_id="c", requester=bystander.boot_id, body=Done()))
    planted = [Planted(each.value, each.reason, commander.boot_id) for each in junk(good)]
    planted += [Planted(theirs, "foreign_org", commander.boot_id), Planted(b"junk", key="nobody")]
    await commander.start()
    await bystander.start()
    try:
        await asyncio.to_thread(plant, ledger, topic, partition, planted)
        with AnsweringDecider(ledger, lambda _partition, _command: Done()):
            for asker in (commander, bystander):
                reply = await asker.ask(0, CancelJob(command_id="c", requester=asker.boot_id), SECONDS)
                assert reply.body == Done()
        await eventually(lambda: _all_there(letters, len(planted) - 1), SECONDS)
    finally:
        await commander.close()
        await bystander.close()
    bad = [(offset, record) for offset, record in enumerate(planted) if record.reason]
    assert [said_of(letter) for letter in letters.all] == [to_be_said(topic, partition, *each) for each in bad]


async def test_a_record_that_the_topic_of_dead_letters_does_not_take_is_parked_by_reference(
    ledger: Settings, letters: Letters
) -> None:
    worker = next(consumer for consumer in CONSUMERS if "tasks" in consumer.name)
    topic = worker.topic(ledger)
    await asyncio.to_thread(limit_records, ledger, topics.dead_letters(ledger), 10_000)
    planted = [Planted(b"x" * FULL_BYTES, "bad_message"), Planted(b"small", "bad_message"), Planted(task(1))]
    await asyncio.to_thread(plant, ledger, topic, PARTITION, planted)
    async with worker.watching(ledger) as used, running(worker.main, worker.settings(ledger)):
        await eventually(lambda: "job-1" in used(), SECONDS)
        await eventually(lambda: _all_there(letters, 2), SECONDS)
    assert [said_of(letter) for letter in letters.all] == [
        to_be_said(topic, PARTITION, offset, record) for offset, record in enumerate(planted[:2])
    ]
    assert [letter.value for letter in letters.all] == [b"", b"small"]


async def _all_there(letters: Letters, count: int) -> bool:
    return await letters.read() >= count
