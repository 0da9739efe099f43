"""The events of the ledger in their order, each once and decoded."""

from collections.abc import Mapping

from msgspec import Struct

from schemas.codec import Decoder
from schemas.recorded import Recorded
from services.runtime.metrics import count
from services.runtime.raw_log import Checkpoint as Checkpoint
from services.runtime.raw_log import RawEntry, RawLog, Records
from services.runtime.settings import Settings
from services.runtime.strangers import Noted, by_reading, noting


class Entry(Struct, frozen=True, gc=False):
    """One event with its place in the log."""

    recorded: Recorded | None  # None: of a type that this version does not know
    raw: bytes  # the bytes that were hashed and stored
    event_type: str
    partition: int
    offset: int
    position: int

    @property
    def next_offset(self) -> int:
        """Where to go on reading once this event is folded."""
        return self.offset + 1

    @property
    def checkpoint(self) -> Checkpoint:
        """The checkpoint to store together with what was folded from this event."""
        return Checkpoint(self.position, self.offset + 1)


class LedgerLog:
    """Reads the events of some partitions, each from its checkpoint, by the rules of RawLog, and decodes them."""

    def __init__(
        self,
        settings: Settings,
        decoder: Decoder,
        starts: Mapping[int, Checkpoint],
        records: Records | None = None,
        *,
        noted: Noted | None = None,
        following: bool = False,
    ) -> None:
        judge = by_reading(decoder.whole)
        self._log = RawLog(settings, judge, noted or noting("log"), starts, records, following=following)

    def poll(self, max_events: int, timeout_seconds: float) -> list[Entry]:
        """Return up to `max_events` events, waiting at most `timeout_seconds` for the first of them."""
        return [_entry(raw) for raw in self._log.poll(max_events, timeout_seconds)]

    def position(self, partition: int) -> int:
        """Return the position of the last event that came from a partition; 0: none."""
        return self._log.position(partition)

    def next_offsets(self) -> dict[int, int]:
        """Return where reading each partition goes on, as the log underneath says."""
        return self._log.next_offsets()

    def at_end(self) -> bool:
        """Whether every committed event had been read when the log was last looked at."""
        return self._log.at_end()

    def close(self) -> None:
        """Leave the broker."""
        self._log.close()


def _entry(raw: RawEntry) -> Entry:
    recorded = raw.recorded
    if recorded is None:
        count("events_of_unknown_type")
    event_type = recorded.header.event_type if recorded else raw.event_type
    return Entry(recorded, raw.raw, event_type, raw.partition, raw.offset, raw.position)
