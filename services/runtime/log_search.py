"""Finds events by their positions. Offsets are not positions, but they lie at least as far apart.

The positions of a partition are gapless, and a record takes one offset, a marker another. So from an event at a known
offset and position, the event k positions on lies at least k offsets on, and from one behind it at most so many
before. A look between the two bounds moves one of them; a guess by the slope makes a handful of looks enough.

LogGap       the log does not hold an event that it must hold
BrokerFault  the broker does not answer in time
"""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from services.runtime.errors import BrokerFault, LogGap
from services.runtime.reader import Record
from services.runtime.strangers import Stranger, place, position_of

CHUNK_RECORDS = 500
POLL_SECONDS = 0.5
PATIENCE_SECONDS = 10.0  # for one look
STEP_BACK = 20  # offsets that a guess stays before its mark, so that what is read from there holds it
GUESSES = 12  # then the middle is looked at, which ends for certain
Placed = Callable[[Record], int]  # the position of an event, 0 of a fence; raises Stranger for what is neither


class SeekableRecords(Protocol):
    """What the search needs of a reader; a LogReader is one."""

    def go_to(self, partition: int, offset: int) -> None:
        """Read this partition, and nothing else, from this offset on."""

    def poll(self, max_records: int, timeout_seconds: float) -> list[Record]:
        """Return the next committed records, [] if there are none in time."""

    def at_end(self) -> bool:
        """Whether everything committed had been read when the log was last looked at."""

    def end(self, partition: int) -> int:
        """Return the offset behind the last committed record."""


@dataclass(frozen=True, slots=True)
class _Mark:
    """A known place: this event lies at this offset."""

    offset: int
    position: int


def find_events(
    records: SeekableRecords, topic: str, partition: int, positions: Iterable[int], placed: Placed = position_of
) -> Iterator[Record]:
    """Yield the records of these positions of a partition, which must rise, or raise LogGap."""
    search = _Search(records, topic, partition, placed)
    for position in positions:
        yield search.find(position)


class _Search:
    """One walk up a partition: what has been read on the way is not read again."""

    def __init__(self, records: SeekableRecords, topic: str, partition: int, placed: Placed) -> None:
        self._records, self._topic, self._partition, self._placed = records, topic, partition, placed
        self._end = records.end(partition)
        self._below = _Mark(-1, 0)  # the first event has position 1, and no offset before 0
        self._chunk: dict[int, Record] = {}

    def find(self, position: int) -> Record:
        """Return the record of a position that is not below the last one found."""
        above: _Mark | None = None
        for number in range(GUESSES + self._end.bit_length()):
            if record := self._chunk.get(position):
                self._below = _Mark(record.offset, position)
                return record
            first = self._below.offset + position - self._below.position
            last = above.offset - (above.position - position) if above else self._end - 1
            if first > last:
                break
            above = self._look(self._guess(position, first, last, above, number), position) or above
        raise LogGap(
            f"{place(self._topic, self._partition, self._below.offset)} and after: no event at position {position}; "
            "records were deleted: restore the log"
        )

    def _guess(self, position: int, first: int, last: int, above: _Mark | None, number: int) -> int:
        if number >= GUESSES:
            return (first + last) // 2
        below = self._below
        if above:
            slope = (above.offset - below.offset) / (above.position - below.position)
        else:
            slope = (below.offset + 1) / below.position if below.position else 1.0
        guess = below.offset + int((position - below.position) * slope) - STEP_BACK
        return min(max(guess, first), last)

    def _look(self, offset: int, position: int) -> _Mark | None:
        """Read from an offset on: either the lower bound rises, or a lower upper one is returned."""
        self._records.go_to(self._partition, offset)
        self._chunk = self._read()
        if not self._chunk:
            return _Mark(offset, position + 1)  # behind the last event, wherever that is
        lowest = min(self._chunk)
        if lowest > position:
            return _Mark(self._chunk[lowest].offset, lowest)
        under = max(known for known in self._chunk if known <= position)
        self._below = _Mark(self._chunk[under].offset, under)
        return None

    def _read(self) -> dict[int, Record]:
        """Return the next events by position, {} at the end of the log; fences, at position 0, are none."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            records = self._records.poll(CHUNK_RECORDS, POLL_SECONDS)
            if events := {at: record for record in records if (at := self._position(record)) > 0}:
                return events
            if self._records.at_end():
                return {}
        raise BrokerFault(
            f"{self._topic}, partition {self._partition}: no record for {PATIENCE_SECONDS:g} s, and no end"
        )

    def _position(self, record: Record) -> int:
        """Return the position of an event, 0 of what is none."""
        try:
            return self._placed(record)
        except Stranger:
            return 0
