"""Reads single events of the log by their positions, from an event loop."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from schemas.codec import CodecError, Decoder
from services.runtime.errors import LogGap, RuntimeFault
from services.runtime.ledger_log import Entry
from services.runtime.log_search import find_events
from services.runtime.reader import LogReader, Record
from services.runtime.settings import Settings
from services.runtime.strangers import claim_of, is_fence, place, position_of
from services.runtime.topics import events


class EventLookup:
    """One look at a time, in a thread of its own; between two looks nothing is asked of the broker."""

    def __init__(self, settings: Settings, decoder: Decoder) -> None:
        self._settings, self._decoder = settings, decoder
        self._reader: LogReader | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="event-lookup")

    async def events(self, partition: int, positions: Sequence[int]) -> list[Entry]:
        """Return the events of these positions, which rise.

        Raises LogGap where the log does not hold them, BrokerFault where the broker does not answer.
        """
        if not positions:
            return []
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._look, partition, positions)

    def close(self) -> None:
        """Leave the broker, behind the look that may be under way."""
        self._thread.submit(self._drop)
        self._thread.shutdown(wait=True)

    def _look(self, partition: int, positions: Sequence[int]) -> list[Entry]:
        topic = events(self._settings)
        try:
            self._reader = self._reader or LogReader(self._settings, topic, {}, jumping=True)
            found = [*map(self._decoded, find_events(self._reader, topic, partition, positions, self._placed))]
            self._reader.rest()
        except RuntimeFault:
            self._drop()
            raise
        return found

    def _placed(self, record: Record) -> int:
        return 0 if is_fence(record) else claim_of(record, self._decoder.claim).position

    def _decoded(self, record: Record) -> Entry:
        try:
            recorded = self._decoder.decode(record.value)
        except CodecError as error:
            raise LogGap(f"{place(record.topic, record.partition, record.offset)}: {error}") from error
        event_type = recorded.header.event_type if recorded else ""
        position = position_of(record)
        return Entry(recorded, record.value, event_type, record.partition, record.offset, position)

    def _drop(self) -> None:
        if self._reader:
            self._reader.close()
            self._reader = None
