"""Which records of a partition are events that a consumer wants: each once, in their order.

What is read to its end is judged by the rule of every reader (`schemas/strangers.py`). What is not wanted is skipped
by its header, without decoding, so it may be a stranger's with a forged position. Therefore it only holds a place: a
wanted event is dropped as repeated where its position is not behind the last one *taken*, never for one skipped.
"""

from collections.abc import Collection
from dataclasses import dataclass

from msgspec import Struct

from schemas.client.checkpoint import Checkpoint
from schemas.codec import Decoder, event_type_of
from schemas.events import EVENT_TYPES, AnyEvent
from schemas.record import Record
from schemas.recorded import Header, Recorded
from schemas.strangers import Stranger, next_claim, position_of


class Received(Struct, frozen=True):
    """An event that was wanted, with its place in the log; `raw` are the bytes that were stored and hashed."""

    recorded: Recorded
    raw: bytes
    offset: int

    @property
    def header(self) -> Header:
        """Where, when and why it was recorded. Dedupe by its `partition` and `position`."""
        return self.recorded.header

    @property
    def event(self) -> AnyEvent:
        """What it says: one of the classes of `schemas.events`."""
        return self.recorded.event

    @property
    def place(self) -> str:
        """Its `<partition>:<position>`, as the API names it."""
        return f"{self.header.partition}:{self.header.position}"


@dataclass(slots=True)
class Counts:
    """What became of the records that were judged."""

    received: int = 0
    skipped: int = 0  # of types that were not wanted
    unknown: int = 0  # of types that this version does not know; not among the skipped
    repeated: int = 0  # seen before; fences, by which deciders find the end of the log, are among them
    strangers: int = 0  # no events of the ledger


class Judge:
    """Judges the records of one partition, from a checkpoint on."""

    def __init__(self, start: Checkpoint, decoder: Decoder, wanted: Collection[str], counts: Counts) -> None:
        self._seen, self._taken = start.position, start.taken
        self._start = start
        self._next_offset = start.next_offset
        self._decoder, self._wanted, self._counts = decoder, wanted, counts

    @property
    def checkpoint(self) -> Checkpoint:
        """The place behind everything that was judged."""
        return Checkpoint(self._start.partition, self._seen, self._next_offset, self._taken)

    def judge(self, record: Record) -> Received | None:
        """Return the event in a record, if it is a wanted one that was not seen before.

        Raises Stranger, after which this one goes on behind the record; and EventsMissing, SchemaLost and what the
        lookup of schemas raises, after which it stands before it.
        """
        try:
            received = self._judged(record)
        except Stranger:
            self._counts.strangers += 1
            self._next_offset = record.offset + 1
            raise
        self._next_offset = record.offset + 1
        return received

    def _judged(self, record: Record) -> Received | None:
        position, name = position_of(record), event_type_of(record.headers)
        if name and name not in self._wanted and self._seen is not None and 0 < position <= self._seen + 1:
            self._skip(position, name)
            return None
        claim = next_claim(record, self._before(position), self._decoder.whole)
        if claim is None:
            self._counts.repeated += 1
            return None
        self._taken = position
        self._seen = max(position, self._seen or 0)
        recorded = claim.recorded
        if recorded is None or recorded.header.event_type not in self._wanted:
            self._count_unwanted(recorded.header.event_type if recorded else "")
            return None
        self._counts.received += 1
        return Received(recorded, record.value, record.offset)

    def _skip(self, position: int, name: str) -> None:
        assert self._seen is not None
        if position <= self._seen:
            self._counts.repeated += 1
            return
        self._seen = position
        self._count_unwanted(name)

    def _before(self, position: int) -> int:
        """Return the position behind which this one has to be."""
        if self._seen is None:  # nobody knows where the partition was left: its next event says it
            return max(position - 1, 0)
        return min(self._seen, max(self._taken, position - 1))

    def _count_unwanted(self, name: str) -> None:
        if name in EVENT_TYPES:
            self._counts.skipped += 1
        else:
            self._counts.unknown += 1
