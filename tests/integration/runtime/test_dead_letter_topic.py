"""Dead letters on a real broker: listed, put back once, counted over restarts."""

import asyncio
import dataclasses
import hashlib
from collections.abc import AsyncIterator
from functools import partial

import msgspec
import pytest
from typer.testing import CliRunner

from services.cli.__main__ import app
from services.runtime.dead_letter import HOUR_SECONDS, VALUE_LIMIT_BYTES, DeadLetters
from services.runtime.dead_letter_topic import CannotRedrive, letters, recent, redrive
from services.runtime.errors import DeadLetterLimit
from services.runtime.producer import Producer
from services.runtime.reader import LogReader, Record
from services.runtime.settings import Settings
from services.runtime.topics import commands, dead_letters, deliveries
from tests.environ import environ_of


@pytest.fixture
async def producer(ledger: Settings) -> AsyncIterator[Producer]:
    """A producer of this test's ledger."""
    producer = Producer(ledger, "test")
    producer.start()
    yield producer
    producer.close()


def read(settings: Settings, topic: str, partition: int, count: int) -> list[Record]:
    """Return the first records of a partition."""
    reader = LogReader(settings, topic, {partition: 0})
    found: list[Record] = []
    try:
        for _ in range(100):
            found += reader.poll(100, 0.2)
            if len(found) >= count:
                return found
    finally:
        reader.close()
    raise AssertionError(f"{len(found)} records")


def set_environment(ledger: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the command line find this ledger."""
    for name, value in environ_of(ledger).items():
        monkeypatch.setenv(name, value)


async def parked(settings: Settings, producer: Producer, value: bytes, key: str = "acme") -> Record:
    """Put a record on a topic, and park it from there."""
    topic = deliveries(settings, "postgres")
    await producer.send(topic, 1, key, value)
    record = read(settings, topic, 1, 1)[-1]
    await DeadLetters(producer, settings).park(record, "bad_message", "it is none")
    return record


async def test_a_letter_is_put_back_once_with_its_origin_and_only_on_request_again(
    ledger: Settings, producer: Producer
) -> None:
    record = await parked(ledger, producer, b"junk")
    [letter] = letters(ledger).values()
    assert (letter.reason, letter.detail, letter.topic) == ("bad_message", "it is none", record.topic)
    assert (letter.partition, letter.offset, letter.size, letter.whole) == (1, 0, 4, True)
    await redrive(ledger, producer, letter)
    back = read(ledger, record.topic, 1, 2)[1]
    assert (back.key, back.value) == ("acme", b"junk")
    assert dict(back.headers)["redriven-from"].decode() == f"{ledger.topic_prefix}.dead-letters:{letter.number}"
    [marked] = letters(ledger).values()
    assert len(marked.redriven) == 1
    with pytest.raises(CannotRedrive, match="--again"):
        await redrive(ledger, producer, marked)
    await redrive(ledger, producer, marked, again=True)
    assert len(read(ledger, record.topic, 1, 3)) == 3


async def test_a_record_of_which_only_a_part_was_parked_is_put_back_whole(ledger: Settings, producer: Producer) -> None:
    record = await parked(ledger, producer, b"x" * (VALUE_LIMIT_BYTES + 5000), key="k" * 300)
    [letter] = letters(ledger).values()
    assert not letter.whole
    await redrive(ledger, producer, letter)
    back = read(ledger, record.topic, 1, 2)[1]
    assert (back.key, hashlib.sha256(back.value).hexdigest()) == (record.key, letter.sha256)


async def test_what_is_no_longer_there_or_no_longer_the_same_is_not_put_back(
    ledger: Settings, producer: Producer
) -> None:
    await parked(ledger, producer, b"junk")
    [letter] = letters(ledger).values()
    for changed, why in (
        ({"value": b"junc"}, "another digest"),
        ({"topic": "somebody.else"}, "no topic of this ledger"),
        ({"partition": 99}, "no topic of this ledger"),
        ({"size": 10**6, "offset": 10**6}, "no longer on the topic"),
    ):
        with pytest.raises(CannotRedrive, match=why):
            await redrive(ledger, producer, msgspec.structs.replace(letter, **changed))
    assert len(read(ledger, letter.topic, 1, 1)) == 1


async def test_what_is_no_letter_of_ours_does_not_hide_those_that_are(
    ledger: Settings, producer: Producer, monkeypatch: pytest.MonkeyPatch
) -> None:
    await parked(ledger, producer, b"junk")
    topic = dead_letters(ledger)
    for number in (b"zz", b"", b"\xff", b"-1", b"9" * 5000):
        await producer.send(topic, 0, "k", b"x", [("redriven", number)])
        said = [("origin-topic", number), ("origin-partition", number), ("origin-offset", number)]
        await producer.send(topic, 0, "k", b"x", [*said, ("reason", b"[/red]\x1b[31m"), ("sha256", number)])
    await parked(ledger, producer, b"more")
    found = letters(ledger)
    assert [letter.value for letter in found.values() if letter.reason == "bad_message"] == [b"junk", b"more"]
    assert not any(letter.redriven for letter in found.values())
    set_environment(ledger, monkeypatch)
    for arguments in (["list"], ["show", "2"], ["redrive", "2"]):
        done = await asyncio.to_thread(CliRunner().invoke, app, ["dead-letters", *arguments])
        assert done.exit_code == (arguments[0] == "redrive"), done.output
        assert isinstance(done.exception, SystemExit | None)
        assert "\x1b" not in done.output


async def test_the_limit_counts_what_earlier_runs_parked_of_the_same_topic(
    ledger: Settings, producer: Producer
) -> None:
    few = dataclasses.replace(ledger, dead_letter_limit=3)

    def run() -> DeadLetters:
        return DeadLetters(producer, few, parked=partial(recent, few, HOUR_SECONDS))

    def record(offset: int, topic: str = commands(ledger)) -> Record:
        return Record(topic, 0, offset, "acme", b"junk", [], 0)

    first = run()
    await first.park(record(1), "bad_message")
    await first.park(record(2), "bad_message")
    second = run()
    await second.park(record(3), "bad_message")
    with pytest.raises(DeadLetterLimit):
        await second.park(record(4), "bad_message")
    third = run()
    with pytest.raises(DeadLetterLimit):
        await third.park(record(4), "bad_message")
    await third.park(record(1, deliveries(ledger, "webhook")), "bad_message")  # another consumer's, another count
    assert len(letters(ledger)) == 4


async def test_the_command_line_lists_shows_and_puts_back(
    ledger: Settings, producer: Producer, monkeypatch: pytest.MonkeyPatch
) -> None:
    await parked(ledger, producer, b"\xff\x00junk")
    await asyncio.to_thread(use_the_command_line, ledger, monkeypatch)


def use_the_command_line(ledger: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """List, show and put back, as a person does."""
    set_environment(ledger, monkeypatch)

    def said(*arguments: str, exit_code: int = 0) -> dict[str, object]:
        done = CliRunner().invoke(app, ["dead-letters", *arguments, "--json"])
        assert done.exit_code == exit_code, done.output
        return msgspec.json.decode(done.stdout, type=dict[str, object])

    listed = said("list", "--waiting", "--topic", "deliveries.postgres")
    assert listed["total"] == 1
    [letter] = msgspec.convert(listed["letters"], list[dict[str, object]])
    number = str(letter["number"])
    assert said("show", number)["value"] == "\\xff\\x00junk"
    assert said("redrive", number) == {"redriven": [letter["number"]], "refused": {}}
    refused = said("redrive", number, exit_code=1)["refused"]
    assert "--again" in str(refused)
    assert said("redrive", number, "--again")["redriven"] == [letter["number"]]
    assert said("list", "--waiting")["total"] == 0
    text = CliRunner().invoke(app, ["dead-letters", "list"])
    assert text.exit_code == 0
    assert "bad_message" in text.stdout
    assert CliRunner().invoke(app, ["dead-letters", "show", "999"]).exit_code == 1
