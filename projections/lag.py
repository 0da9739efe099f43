"""How far the projection lies behind the log, in events.

The head of a partition is the position of its last record, read from the end of the log: the offsets of a
transactional topic count commit markers too and never reach zero.
"""

import asyncio
import logging
from collections.abc import Mapping
from contextlib import closing

from services.runtime.ends import Ends, first_offsets
from services.runtime.errors import RuntimeFault
from services.runtime.metrics import level
from services.runtime.raw_log import position_of
from services.runtime.reader import LogReader
from services.runtime.settings import Settings
from services.runtime.topics import events

log = logging.getLogger(__name__)
EVERY_SECONDS = 5.0
LOOK_BACK = 16  # offsets before the end among which there is a record: what follows the last one are markers
READ_SECONDS = 2.0
READ_POLL_SECONDS = 0.1


async def watch_lag(settings: Settings, reader: str, folded: Mapping[int, int], heads: dict[int, int]) -> None:
    """Keep `heads` fresh and publish the lag of each partition every few seconds, until cancelled."""
    ends = Ends(settings, events(settings))
    seen: dict[int, int] = {}
    while True:
        try:
            now = await ends.of(range(settings.partitions))
            grown = {partition: end for partition, end in now.items() if end != seen.get(partition, 0)}
            heads |= await asyncio.to_thread(head_positions, settings, grown)
            seen = now
        except RuntimeFault as fault:  # a figure is missing for a while; the projection itself goes on
            log.warning("cannot tell the head of the log", extra={"reason": str(fault)})
        for partition, position in dict(folded).items():
            level("lag", max(0, heads.get(partition, 0) - position), process=reader, partition=str(partition))
        await asyncio.sleep(EVERY_SECONDS)


def head_positions(settings: Settings, ends: Mapping[int, int]) -> dict[int, int]:
    """Return the position of the last event before each of these end offsets, where one is found in time."""
    if not ends:
        return {}
    topic = events(settings)
    first = first_offsets(settings, topic, ends)
    starts = {partition: max(first[partition], end - LOOK_BACK) for partition, end in ends.items()}
    heads: dict[int, int] = {}
    with closing(LogReader(settings, topic, starts)) as reader:
        for _ in range(int(READ_SECONDS / READ_POLL_SECONDS)):
            for record in reader.poll(LOOK_BACK * len(starts), READ_POLL_SECONDS):
                heads[record.partition] = max(heads.get(record.partition, 0), position_of(record))
            if reader.at_end():
                break
    return heads
