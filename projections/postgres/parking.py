"""Dead-letters what somebody else wrote to the log, before the checkpoint moves past it.

A process that dies between the two parks the record again: dead letters with the same origin are one.
"""

from collections.abc import Mapping

from projections.postgres.sink import READER
from schemas.codec import Decoder
from services.runtime.dead_letter import Park
from services.runtime.ledger_log import Checkpoint, Entry, LedgerLog
from services.runtime.raw_log import Records
from services.runtime.reader import Record
from services.runtime.settings import Settings
from services.runtime.strangers import Stranger, noting


class Strangers:
    """What this process has parked, by partition: a log that is opened again does not park it again."""

    def __init__(self, park: Park) -> None:
        self._park = park
        self._count = noting(READER)
        self._parked: dict[int, int] = {}  # by partition: offset of the last one

    def note(self, record: Record, stranger: Stranger) -> None:
        """Park a record; raise where that is not possible: then nothing may move past it."""
        if record.offset > self._parked.get(record.partition, -1):
            self._park(record, stranger.reason, str(stranger))
            self._count(record, stranger)
            self._parked[record.partition] = record.offset


class ParkingLog:
    """A LedgerLog whose entries move the checkpoint past strangers' records too, so that each is parked once."""

    def __init__(
        self,
        settings: Settings,
        decoder: Decoder,
        strangers: Strangers,
        starts: Mapping[int, Checkpoint],
        records: Records | None = None,
    ) -> None:
        self._strangers = strangers
        self._last: dict[int, int] = {}  # by partition: offset of a stranger's record since the poll before
        self._log = LedgerLog(settings, decoder, starts, records, noted=self._note, following=True)

    def poll(self, max_events: int, timeout_seconds: float) -> list[Entry]:
        """Return the next events, and for a partition that ends with a stranger's record an entry without event."""
        entries = self._log.poll(max_events, timeout_seconds)
        behind = {entry.partition: entry.offset for entry in entries}
        for partition, offset in self._last.items():
            if offset > behind.get(partition, -1):
                entries.append(Entry(None, b"", "", partition, offset, self._log.position(partition)))
        self._last.clear()
        return entries

    def close(self) -> None:
        """Leave the broker."""
        self._log.close()

    def _note(self, record: Record, stranger: Stranger) -> None:
        self._strangers.note(record, stranger)
        self._last[record.partition] = record.offset
