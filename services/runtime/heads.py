"""The last records of partitions.

The offsets of a transactional topic count commit markers too, which no reader gets: its end is not its last record.
"""

import time
from collections.abc import Mapping

from services.runtime.reader import LogReader, Record
from services.runtime.settings import Settings

LOOK_BACK = 16  # offsets before the end among which there is a record: what follows the last one are markers
READ_SECONDS = 2.0
READ_POLL_SECONDS = 0.1


class LastRecords:
    """Reads the last records of partitions of a topic; in one thread at a time.

    Its client stays open from one call to the next, and asks for nothing meanwhile: a new one costs the broker more.
    """

    def __init__(self, settings: Settings, topic: str) -> None:
        self._settings, self._topic = settings, topic
        self._reader: LogReader | None = None

    def before(self, ends: Mapping[int, int], look_back: int = LOOK_BACK) -> list[Record]:
        """Return the few records before each of these end offsets, as far as they come in time."""
        if not ends:
            return []
        reader = self._reader or LogReader(self._settings, self._topic, {}, jumping=True)
        self._reader = None
        try:
            found = _last(reader, ends, look_back)
            reader.rest()
        except BaseException:
            reader.close()  # one that met an error is done for
            raise
        self._reader = reader
        return found

    def offsets(self, ends: Mapping[int, int]) -> dict[int, int]:
        """Return the offset behind the last record before each of these end offsets, where one is found in time."""
        behind: dict[int, int] = {}
        for record in self.before(ends):
            behind[record.partition] = max(behind.get(record.partition, 0), record.offset + 1)
        return behind

    def close(self) -> None:
        """Leave the broker."""
        if self._reader:
            self._reader.close()
            self._reader = None


def _last(reader: LogReader, ends: Mapping[int, int], look_back: int) -> list[Record]:
    firsts = reader.firsts(ends)
    reader.start_over({partition: max(firsts[partition], end - look_back) for partition, end in ends.items()})
    found: list[Record] = []
    deadline = time.monotonic() + READ_SECONDS
    while not reader.at_end() and time.monotonic() < deadline:
        found += reader.poll(look_back * len(ends), READ_POLL_SECONDS)
    return found
