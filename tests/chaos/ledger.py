"""The log of the cluster, read from its first event on and folded by the rules that the simulation wrote down."""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Self

from schemas.codec import Decoder
from schemas.events import WriterOpened
from schemas.recorded import Recorded
from services.runtime.errors import RuntimeFault
from services.runtime.reader import LogReader
from services.runtime.registry import decoder
from services.runtime.settings import Settings
from services.runtime.topics import dead_letters, events
from tests.simulation.history import History
from tests.simulation.story import Story

POLL_RECORDS = 2000
POLL_SECONDS = 1.0
FENCE = b""  # the value of what a decider writes before it reads its log; it is no event


@dataclass(slots=True)
class Ledger:
    """Every event so far, by partition and by job, and what they tell."""

    settings: Settings
    histories: dict[int, History]
    by_job: defaultdict[str, list[Recorded]] = field(default_factory=lambda: defaultdict(list))
    repeated: list[str] = field(default_factory=list)  # positions that stand in the log twice
    openings: int = 0
    _next: dict[int, int] = field(default_factory=dict)

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Return the ledger of a cluster; nothing is read yet."""
        partitions = range(settings.partitions)
        return cls(settings, {each: History(each) for each in partitions}, _next=dict.fromkeys(partitions, 0))

    @property
    def stories(self) -> dict[str, Story]:
        """Return every job."""
        return {job_id: job for history in self.histories.values() for job_id, job in history.jobs.items()}

    def positions(self) -> dict[int, int]:
        """Return how far each partition has been read."""
        return {number: history.position for number, history in self.histories.items()}

    def read_on(self) -> None:
        """Read to the present end of every partition; a broker that does not answer leaves some for the next time."""
        decode = decoder(self.settings)
        for partition in self.histories:
            try:
                reader = LogReader(self.settings, events(self.settings), {partition: self._next[partition]})
            except RuntimeFault:
                continue
            try:
                self._read(reader, partition, decode)
            except RuntimeFault:
                continue
            finally:
                reader.close()

    def _read(self, reader: LogReader, partition: int, decode: Decoder) -> None:
        while not reader.at_end():
            for record in reader.poll(POLL_RECORDS, POLL_SECONDS):
                self._next[partition] = record.offset + 1
                if record.value != FENCE and (recorded := decode.decode(record.value)):
                    self._take(partition, recorded, record.value)

    def _take(self, partition: int, recorded: Recorded, stored: bytes) -> None:
        history = self.histories[partition]
        if recorded.header.position <= history.position:
            self.repeated.append(f"{partition}:{recorded.header.position} {recorded.header.event_type}")
        history.tell(recorded, stored)
        self.openings += isinstance(recorded.event, WriterOpened)
        if recorded.event.job_id:
            self.by_job[recorded.event.job_id].append(recorded)


def parked(settings: Settings) -> list[str]:
    """Return what was dead-lettered: there was nothing wrong with any record, so nothing may be."""
    reader = LogReader(settings, dead_letters(settings), {0: 0})
    found = []
    try:
        while not reader.at_end():
            found += [
                str({name: text.decode() for name, text in each.headers}) for each in reader.poll(100, POLL_SECONDS)
            ]
    finally:
        reader.close()
    return found
