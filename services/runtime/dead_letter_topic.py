"""The topic of dead letters, read: what was parked, what became of it, and how to put a record back where it came from.

A letter's number is its offset. That one was redriven is said by a record of its own on the same topic (`mark_of`),
so that everybody knows it who reads the topic.
"""

import hashlib
import time
from collections.abc import Iterator
from functools import partial

from msgspec import Struct, field

from services.runtime.dead_letter import HOUR_SECONDS, KEY_LIMIT_CHARACTERS, DeadLetters
from services.runtime.ends import committed_end, first_offsets
from services.runtime.errors import BrokerFault, LogGap, RuntimeFault
from services.runtime.producer import Sender
from services.runtime.reader import Headers, LogReader, Record
from services.runtime.settings import Settings
from services.runtime.topics import all_topics, dead_letters, events

RECENT_RECORDS = 2  # times the limit: how many of the newest records are looked at to see how many came within an hour
READ_RECORDS = 200
READ_SECONDS = 0.5
PATIENCE_SECONDS = 15.0  # without a single record, although the topic has not ended
NO_NUMBER = -1  # is no letter's
KAFKA_DIGITS = 18  # of a number that is an offset for certain
REDRIVEN, REDRIVEN_FROM = "redriven", "redriven-from"


class CannotRedrive(RuntimeFault):
    """A letter cannot be put back; the message says why, and what to do."""


class Parked(Struct):
    """One dead letter, and where it was put back since."""

    number: int
    parked_ms: int  # since 1970
    reason: str
    detail: str
    topic: str
    partition: int
    offset: int
    size: int  # of the whole value, bytes
    sha256: str  # of the whole value
    key: str
    value: bytes  # less than the whole where that was too large
    redriven: list[int] = field(default_factory=list)  # when, milliseconds since 1970

    @property
    def whole(self) -> bool:
        """Whether key and value are here as they were; a key of the largest length may be cut."""
        return len(self.value) == self.size and len(self.key) < KEY_LIMIT_CHARACTERS


def dead_letters_of(settings: Settings, producer: Sender) -> DeadLetters:
    """Return what parks records of a process; what was parked before it began counts towards the limit."""
    return DeadLetters(producer, settings, parked=partial(recent, settings, HOUR_SECONDS))


def letters(settings: Settings) -> dict[int, Parked]:
    """Return every dead letter that the topic still holds, by its number."""
    found: dict[int, Parked] = {}
    for record in _records(settings, first_offsets(settings, dead_letters(settings), [0])[0]):
        headers = dict(record.headers)
        if REDRIVEN in headers:
            letter = found.get(_number(headers[REDRIVEN]))
            if letter is not None:
                letter.redriven.append(record.timestamp_ms)
        elif "origin-topic" in headers:
            found[record.offset] = _parked(record, headers)
    return found


def recent(settings: Settings, seconds: float) -> dict[str, list[float]]:
    """Return how many seconds ago records of each topic were parked, looking back no further than that.

    Looks at the newest records only, twice as many as the limit. Tansu tells no end of a topic; its topics end with
    it, and there is nothing to count.
    """
    if settings.broker == "tansu":
        return {}
    topic = dead_letters(settings)
    first, end = first_offsets(settings, topic, [0])[0], committed_end(settings, topic, [0])[0]
    ages: dict[str, list[float]] = {}
    now = time.time()
    for record in _records(settings, max(first, end - RECENT_RECORDS * settings.dead_letter_limit)):
        origin = dict(record.headers).get("origin-topic", b"").decode(errors="replace")
        age = max(0.0, now - record.timestamp_ms / 1000)
        if origin and age < seconds:
            ages.setdefault(origin, []).append(age)
    return ages


async def redrive(settings: Settings, producer: Sender, letter: Parked, *, again: bool = False) -> None:
    """Put a record back on the partition it came from, then say so on the topic of dead letters.

    Killed between the two it may be put back once more: whatever our topics carry is safe to repeat.
    """
    if letter.redriven and not again:
        raise CannotRedrive(f"dead letter {letter.number} was redriven before: pass --again to do it once more")
    key, value = _original(settings, letter)
    headers = [(REDRIVEN_FROM, f"{dead_letters(settings)}:{letter.number}".encode())]
    await producer.send(letter.topic, letter.partition, key, value, headers)
    await producer.send(dead_letters(settings), 0, letter.key, b"", mark_of(letter))


def mark_of(letter: Parked) -> Headers:
    """Return the headers of the record that says that a letter was put back."""
    return [(REDRIVEN, b"%d" % letter.number), ("redriven-topic", letter.topic.encode())]


def _original(settings: Settings, letter: Parked) -> tuple[str, bytes]:
    """Return key and value as they were: from the letter, or from the topic it came from where they are not whole."""
    if not any(topic.name == letter.topic and letter.partition < topic.partitions for topic in all_topics(settings)):
        raise CannotRedrive(f"dead letter {letter.number} is of {letter.topic}, which is no topic of this ledger")
    if letter.topic == events(settings):
        raise CannotRedrive(f"dead letter {letter.number} is of {letter.topic}, where only the decider may write")
    key, value = letter.key, letter.value
    if not letter.whole:
        record = _record_at(settings, letter)
        key, value = record.key, record.value
    if hashlib.sha256(value).hexdigest() != letter.sha256:
        raise CannotRedrive(f"dead letter {letter.number}: what is there now has another digest than what was parked")
    return key, value


def _record_at(settings: Settings, letter: Parked) -> Record:
    place = f"{letter.topic}, partition {letter.partition}, offset {letter.offset}"
    reader = LogReader(settings, letter.topic, {letter.partition: letter.offset})
    give_up_at = time.monotonic() + PATIENCE_SECONDS
    try:
        while time.monotonic() < give_up_at:
            for record in reader.poll(1, READ_SECONDS):
                if record.offset == letter.offset:
                    return record
                raise LogGap(place)
    except LogGap as error:
        raise CannotRedrive(
            f"dead letter {letter.number} holds only a part of its record, and {place} is no longer on the topic"
        ) from error
    finally:
        reader.close()
    raise CannotRedrive(f"dead letter {letter.number}: {place} could not be read within {PATIENCE_SECONDS:g} s")


def _records(settings: Settings, start: int) -> Iterator[Record]:
    """Yield the records of the topic from an offset up to its present end."""
    reader = LogReader(settings, dead_letters(settings), {0: start})
    give_up_at = time.monotonic() + PATIENCE_SECONDS
    try:
        while time.monotonic() < give_up_at:
            some = reader.poll(READ_RECORDS, READ_SECONDS)
            yield from some
            if some:
                give_up_at = time.monotonic() + PATIENCE_SECONDS
            elif reader.at_end():
                return
    finally:
        reader.close()
    raise BrokerFault(f"no dead letter for {PATIENCE_SECONDS:g} s, and no end of the topic: look at the broker")


def _number(text: bytes, none: int = NO_NUMBER) -> int:
    """Return the number in a header that anybody may have written; `none` where it holds no number of Kafka's."""
    return int(text) if text.isdigit() and len(text) <= KAFKA_DIGITS else none


def _parked(record: Record, headers: dict[str, bytes]) -> Parked:
    def said(name: str) -> str:
        return headers.get(name, b"").decode(errors="replace")

    return Parked(
        number=record.offset,
        parked_ms=record.timestamp_ms,
        reason=said("reason"),
        detail=said("detail"),
        topic=said("origin-topic"),
        partition=_number(headers.get("origin-partition", b""), none=0),
        offset=_number(headers.get("origin-offset", b""), none=0),
        size=_number(headers.get("origin-bytes", b""), none=0),
        sha256=said("sha256"),
        key=record.key,
        value=record.value,
    )
