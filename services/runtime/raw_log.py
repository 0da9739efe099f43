"""The events of the ledger in their order, each once, as bytes: the log reader with the rule of positions on top.

A record's position is in its header, so that nothing has to be decoded to keep the rule.
"""

from collections.abc import Mapping
from typing import Protocol

from msgspec import Struct

from schemas.codec import event_type_of
from services.runtime.errors import LogGap
from services.runtime.metrics import count
from services.runtime.reader import Headers, LogReader, Record
from services.runtime.settings import Settings
from services.runtime.topics import events

POSITION_HEADER = "ledger-position"
FOREIGN = (
    "only the decider may write to this topic, and no reader goes past what it did not write: take the right to write "
    "from whoever else has it, and restore the topic from a copy without this record"
)


class Checkpoint(Struct, frozen=True, gc=False):
    """How far a partition was folded."""

    position: int = 0  # of the last event folded; 0: none
    next_offset: int = 0  # where to go on reading


class RawEntry(Struct, frozen=True, gc=False):
    """One event as it was stored, with its place in the log."""

    raw: bytes  # the bytes that were hashed and stored
    partition: int
    offset: int
    position: int
    headers: Headers
    org_id: str = ""  # as the record's key says

    @property
    def event_type(self) -> str:
        """The event's type as its header says it."""
        return event_type_of(self.headers)

    @property
    def checkpoint(self) -> Checkpoint:
        """The checkpoint to store together with what was made of this event."""
        return Checkpoint(self.position, self.offset + 1)


class Records(Protocol):
    """Where a log gets its records: a LogReader, or a list in a test."""

    def poll(self, max_records: int, timeout_seconds: float) -> list[Record]:
        """Return the next records, [] if there are none in time."""

    def next_offsets(self) -> dict[int, int]:
        """Return where reading each partition goes on."""

    def at_end(self) -> bool:
        """Whether everything there was has been read."""

    def close(self) -> None:
        """Let go of it."""


class RawLog:
    """Reads the events of some partitions, each from its checkpoint, without decoding them.

    An event at or below the checkpoint is dropped (a fence, at position 0, always is), checkpoint + 1 is next, anything
    else is a LogGap: then nothing more comes from this log, also not from its other partitions.
    """

    def __init__(self, settings: Settings, starts: Mapping[int, Checkpoint], records: Records | None = None) -> None:
        self._positions = {partition: start.position for partition, start in starts.items()}
        self._records = records or LogReader(
            settings, events(settings), {partition: start.next_offset for partition, start in starts.items()}
        )
        self._gap: LogGap | None = None

    def poll(self, max_events: int, timeout_seconds: float) -> list[RawEntry]:
        """Return up to `max_events` events, waiting at most `timeout_seconds` for the first of them."""
        if self._gap:
            raise self._gap
        try:
            records = self._records.poll(max_events, timeout_seconds)
            return [entry for record in records if (entry := self._next(record))]
        except LogGap as gap:
            self._gap = gap
            raise

    def position(self, partition: int) -> int:
        """Return the position of the last event that came from a partition; 0: none."""
        return self._positions[partition]

    def next_offsets(self) -> dict[int, int]:
        """Return where reading each partition goes on, as the reader underneath says."""
        return self._records.next_offsets()

    def at_end(self) -> bool:
        """Whether every committed event had been read when the log was last looked at."""
        return self._records.at_end()

    def close(self) -> None:
        """Leave the broker."""
        self._records.close()

    def _next(self, record: Record) -> RawEntry | None:
        position = position_of(record)
        last = self._positions[record.partition]
        if position <= last:
            count("events_repeated")
            return None
        if position != last + 1:
            raise LogGap(
                f"{place(record.topic, record.partition, record.offset)}: position {position} follows {last}: events "
                "are missing between them; restore the log, or rebuild this reader from the first offset"
            )
        self._positions[record.partition] = position
        return RawEntry(record.value, record.partition, record.offset, position, record.headers, record.key)


def position_of(record: Record) -> int:
    """Return the position of an event from its header, without decoding it."""
    for name, value in record.headers:
        if name == POSITION_HEADER and value.isdigit():
            return int(value)
    raise LogGap(
        f"{place(record.topic, record.partition, record.offset)}: no usable {POSITION_HEADER} header: {FOREIGN}"
    )


def place(topic: str, partition: int, offset: int) -> str:
    """Name a record for people."""
    return f"topic {topic}, partition {partition}, offset {offset}"
