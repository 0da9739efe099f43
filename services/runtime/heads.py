"""The last records of partitions.

The offsets of a transactional topic count commit markers too, which no reader gets: its end is not its last record.
"""

from collections.abc import Mapping
from contextlib import closing

from services.runtime.ends import first_offsets
from services.runtime.reader import LogReader, Record
from services.runtime.settings import Settings

LOOK_BACK = 16  # offsets before the end among which there is a record: what follows the last one are markers
READ_SECONDS = 2.0
READ_POLL_SECONDS = 0.1


def last_records(settings: Settings, topic: str, ends: Mapping[int, int], look_back: int = LOOK_BACK) -> list[Record]:
    """Return the few records before each of these end offsets, as far as they come in time."""
    if not ends:
        return []
    first = first_offsets(settings, topic, ends)
    starts = {partition: max(first[partition], end - look_back) for partition, end in ends.items()}
    found: list[Record] = []
    with closing(LogReader(settings, topic, starts)) as reader:
        for _ in range(int(READ_SECONDS / READ_POLL_SECONDS)):
            found += reader.poll(look_back * len(starts), READ_POLL_SECONDS)
            if reader.at_end():
                break
    return found


def last_offsets(settings: Settings, topic: str, ends: Mapping[int, int]) -> dict[int, int]:
    """Return the offset behind the last record before each of these end offsets, where one is found in time."""
    behind: dict[int, int] = {}
    for record in last_records(settings, topic, ends):
        behind[record.partition] = max(behind.get(record.partition, 0), record.offset + 1)
    return behind
