"""The events of the ledger in their order, each once: the log reader with the rule of positions on top.

Their bytes stay as they are. Each is judged all the same, or a stranger's record could take the place of an event: by
reading it to its end (ADR 5), or by the checksum that the decider wrote beside it (ADR 10).
"""

from collections import deque
from collections.abc import Mapping
from typing import Protocol

from msgspec import Struct

from schemas.codec import event_type_of
from schemas.recorded import Recorded
from services.runtime.errors import LogGap, RegistryFault
from services.runtime.metrics import count
from services.runtime.reader import LogReader, Record
from services.runtime.settings import Settings
from services.runtime.strangers import Judge, Noted, Stranger
from services.runtime.topics import events

AT_ONCE = 1_000  # records from the broker


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
    event_type: str  # as its header says
    org_id: str = ""  # as the record's key says
    recorded: Recorded | None = None  # what it says, where the log was asked for that and this version knows the type

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
    """Reads the events of some partitions, each from its checkpoint.

    An event at or below the checkpoint is dropped (a fence, at position 0, always is), checkpoint + 1 is next. What is
    no event of ours is given to `noted` and left out. Anything else is a LogGap: then nothing more comes from this log,
    also not from its other partitions. After a RegistryFault, `poll` goes on with the record that it could not judge.
    `following` is as of a LogReader.
    """

    def __init__(
        self,
        settings: Settings,
        judge: Judge,
        noted: Noted,
        starts: Mapping[int, Checkpoint],
        records: Records | None = None,
        *,
        following: bool = False,
    ) -> None:
        self._judge, self._noted = judge, noted
        self._positions = {partition: start.position for partition, start in starts.items()}
        self._records = records or LogReader(
            settings,
            events(settings),
            {partition: start.next_offset for partition, start in starts.items()},
            following=following,
        )
        self._waiting: deque[Record] = deque()  # read from the broker, not judged yet
        self._gap: LogGap | None = None

    def poll(self, max_events: int, timeout_seconds: float) -> list[RawEntry]:
        """Return up to `max_events` events, waiting at most `timeout_seconds` for the first of them."""
        if self._gap:
            raise self._gap
        entries: list[RawEntry] = []
        while self._more(max_events - len(entries), 0 if entries else timeout_seconds):
            try:
                entry = self._next(self._waiting[0])
            except LogGap as gap:
                self._gap = gap
                raise
            except RegistryFault:
                if entries:
                    return entries
                raise
            self._waiting.popleft()
            if entry:
                entries.append(entry)
        return entries

    def position(self, partition: int) -> int:
        """Return the position of the last event that came from a partition; 0: none."""
        return self._positions[partition]

    def next_offsets(self) -> dict[int, int]:
        """Return where reading each partition goes on: behind the last record that was judged, and what holds none."""
        return self._records.next_offsets() | {each.partition: each.offset for each in reversed(self._waiting)}

    def at_end(self) -> bool:
        """Whether every committed event had been read when the log was last looked at."""
        return self._records.at_end() and not self._waiting

    def close(self) -> None:
        """Leave the broker."""
        self._records.close()

    def _more(self, wanted: int, timeout_seconds: float) -> bool:
        """Whether there is a record to judge. Few are fetched at once: their headers are gone by the next ones."""
        if not self._waiting and wanted:
            self._waiting.extend(self._records.poll(min(wanted, AT_ONCE), timeout_seconds))
        return bool(self._waiting)

    def _next(self, record: Record) -> RawEntry | None:
        try:
            claim = self._judge(record, self._positions[record.partition])
        except Stranger as stranger:
            self._noted(record, stranger)
            return None
        if claim is None:
            count("events_repeated")
            return None
        self._positions[record.partition] = claim.position
        return RawEntry(
            record.value,
            record.partition,
            record.offset,
            claim.position,
            claim.event_type or event_type_of(record.headers),
            record.key,
            claim.recorded,
        )
