"""Dead letters name their origin, fit into a record whatever the original was, and stop at a limit."""

import asyncio
import dataclasses
import hashlib

import pytest

from services.runtime import dead_letter
from services.runtime.dead_letter import VALUE_LIMIT_BYTES, DeadLetters, letter_of, parking_from_threads
from services.runtime.errors import DeadLetterLimit, NotDelivered
from services.runtime.producer import Headers
from services.runtime.reader import Record
from services.runtime.settings import Settings
from tests.fakes.producer import RECORD_LIMIT_BYTES, InMemoryProducer

SETTINGS = Settings(kafka="", postgres="", registry="", blobs="", topic_prefix="test", dead_letter_limit=3)


def record(value: bytes = b"nonsense", key: str = "acme") -> Record:
    """Return a record to park."""
    return Record("test.commands", 4, 17, key, value, [("ce_type", b"x"), ("other", bytes(500_000))], 1234)


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


async def test_a_parked_record_names_origin_reason_and_digest() -> None:
    producer = InMemoryProducer()
    await DeadLetters(producer, SETTINGS).park(record(), "bad_message", "unknown version")
    [parked] = producer.records
    assert (parked.topic, parked.partition, parked.key, parked.value) == ("test.dead-letters", 0, "acme", b"nonsense")
    assert dict(parked.headers) == {
        "origin-topic": b"test.commands",
        "origin-partition": b"4",
        "origin-offset": b"17",
        "origin-timestamp-ms": b"1234",
        "origin-bytes": b"8",
        "origin-ce_type": b"x",
        "sha256": hashlib.sha256(b"nonsense").hexdigest().encode(),
        "reason": b"bad_message",
        "detail": b"unknown version",
    }


@pytest.mark.parametrize("size", [VALUE_LIMIT_BYTES, VALUE_LIMIT_BYTES + 1, 1_048_576])
def test_a_record_near_the_size_limit_still_fits_with_everything_said_about_it(size: int) -> None:
    original = record(bytes(size), key="ü" * 10_000)
    letter = letter_of(original, "bad_message", "ü" * 100_000)
    headers = sum(len(name) + len(value) for name, value in letter.headers)
    assert len(letter.key.encode()) + len(letter.value) + headers < RECORD_LIMIT_BYTES
    said = dict(letter.headers)
    assert said["origin-bytes"] == b"%d" % size
    assert said["sha256"] == hashlib.sha256(original.value).hexdigest().encode()


async def test_the_limit_stops_parking_and_frees_itself_after_an_hour() -> None:
    producer, clock = InMemoryProducer(), Clock()
    letters = DeadLetters(producer, SETTINGS, clock)
    for _ in range(3):
        await letters.park(record(), "bad_message")
    with pytest.raises(DeadLetterLimit, match="JOBLEDGER_DEAD_LETTER_LIMIT"):
        await letters.park(record(), "bad_message")
    assert len(producer.records) == 3
    clock.now += 3600
    await letters.park(record(), "bad_message")
    assert len(producer.records) == 4


async def test_a_limit_of_zero_parks_nothing() -> None:
    letters = DeadLetters(InMemoryProducer(), dataclasses.replace(SETTINGS, dead_letter_limit=0))
    with pytest.raises(DeadLetterLimit):
        await letters.park(record(), "bad_message")


def test_headers_of_the_origin_that_are_too_large_are_cut() -> None:
    huge = Record("test.events", 0, 1, "acme", b"", [("ce_type", bytes(1_000_000))] * 200, 0)
    assert sum(len(name) + len(value) for name, value in letter_of(huge, "bad_message").headers) < 100_000


async def test_a_letter_that_the_topic_refuses_is_kept_as_a_reference_with_its_digest() -> None:
    producer = InMemoryProducer(largest_value_bytes=100)
    await DeadLetters(producer, SETTINGS).park(record(b"x" * 101), "bad_message")
    [parked] = producer.records
    said = dict(parked.headers)
    assert (parked.value, said["origin-offset"], said["origin-bytes"]) == (b"", b"17", b"101")
    assert said["sha256"] == hashlib.sha256(b"x" * 101).hexdigest().encode()


async def test_a_refused_write_is_raised_so_that_the_caller_stops() -> None:
    producer = InMemoryProducer()
    producer.failure = NotDelivered("broker away")
    with pytest.raises(NotDelivered):
        await DeadLetters(producer, SETTINGS).park(record(), "bad_message")


class SilentProducer:
    """A producer whose broker neither takes a record nor refuses it."""

    def __init__(self) -> None:
        self.given_up = asyncio.Event()

    async def send(self, topic: str, partition: int, key: str, value: bytes, headers: Headers = ()) -> None:
        """Wait until nobody waits any more."""
        try:
            await asyncio.Event().wait()
        finally:
            self.given_up.set()


async def test_a_letter_that_a_thread_waits_for_too_long_is_given_up_by_name_and_by_the_event_loop_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(dead_letter, "PARK_TIMEOUT_SECONDS", 0.05)
    producer = SilentProducer()
    park = parking_from_threads(DeadLetters(producer, SETTINGS), asyncio.get_running_loop())
    with pytest.raises(NotDelivered, match="partition 4, offset 17 was not acknowledged"):
        await asyncio.to_thread(park, record(), "bad_message", "")
    async with asyncio.timeout(10):
        await producer.given_up.wait()


async def test_what_a_letter_failed_by_reaches_the_thread_that_waits_for_it() -> None:
    producer = InMemoryProducer()
    producer.failure = NotDelivered("broker away")
    park = parking_from_threads(DeadLetters(producer, SETTINGS), asyncio.get_running_loop())
    with pytest.raises(NotDelivered, match="broker away"):
        await asyncio.to_thread(park, record(), "bad_message", "")
