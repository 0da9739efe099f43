"""The events of the ledger in their order, each once and decoded."""

from collections.abc import Mapping

from msgspec import Struct

from schemas.codec import Decoder, NotAnEvent, UnknownSchema
from schemas.events import Recorded
from services.runtime.errors import LogGap
from services.runtime.metrics import count
from services.runtime.raw_log import FOREIGN, RawEntry, RawLog, Records, place
from services.runtime.raw_log import Checkpoint as Checkpoint
from services.runtime.reader import Headers
from services.runtime.settings import Settings
from services.runtime.topics import events


class Entry(Struct, frozen=True, gc=False):
    """One event with its place in the log."""

    recorded: Recorded | None  # None: of a type that this version does not know
    raw: bytes  # the bytes that were hashed and stored
    event_type: str
    partition: int
    offset: int
    position: int
    headers: Headers

    @property
    def next_offset(self) -> int:
        """Where to go on reading once this event is folded."""
        return self.offset + 1

    @property
    def checkpoint(self) -> Checkpoint:
        """The checkpoint to store together with what was folded from this event."""
        return Checkpoint(self.position, self.offset + 1)


class LedgerLog:
    """Reads the events of some partitions, each from its checkpoint, by the rule of positions (see RawLog).

    A record that is no event, or is not at the position that its header names, is a LogGap as well.
    """

    def __init__(
        self, settings: Settings, decoder: Decoder, starts: Mapping[int, Checkpoint], records: Records | None = None
    ) -> None:
        self._topic = events(settings)
        self._decoder = decoder
        self._log = RawLog(settings, starts, records)
        self._gap: LogGap | None = None

    def poll(self, max_events: int, timeout_seconds: float) -> list[Entry]:
        """Return up to `max_events` events, waiting at most `timeout_seconds` for the first of them."""
        if self._gap:
            raise self._gap
        try:
            return [self._decoded(entry) for entry in self._log.poll(max_events, timeout_seconds)]
        except LogGap as gap:
            self._gap = gap
            raise

    def position(self, partition: int) -> int:
        """Return the position of the last event that came from a partition; 0: none."""
        return self._log.position(partition)

    def next_offsets(self) -> dict[int, int]:
        """Return where reading each partition goes on, as the reader underneath says."""
        return self._log.next_offsets()

    def at_end(self) -> bool:
        """Whether every committed event had been read when the log was last looked at."""
        return self._log.at_end()

    def close(self) -> None:
        """Leave the broker."""
        self._log.close()

    def _decoded(self, entry: RawEntry) -> Entry:
        at = place(self._topic, entry.partition, entry.offset)
        try:
            recorded = self._decoder.decode(entry.raw)
        except NotAnEvent as error:
            raise LogGap(f"{at}: {error}: {FOREIGN}") from error
        except UnknownSchema as error:
            raise LogGap(f"{at}: {error}: restore the registry's schemas, then start again") from error
        if recorded is None:
            count("events_of_unknown_type")
        elif (recorded.header.partition, recorded.header.position) != (entry.partition, entry.position):
            raise LogGap(
                f"{at}: its header says position {entry.position} but the event says partition "
                f"{recorded.header.partition}, position {recorded.header.position}: another writer wrote here"
            )
        return Entry(
            recorded,
            entry.raw,
            recorded.header.event_type if recorded else entry.event_type,
            entry.partition,
            entry.offset,
            entry.position,
            entry.headers,
        )
