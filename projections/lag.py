"""How far a projection lies behind the log, in events, and whether it moves.

The head of a partition is the position of its last event: the offsets of a transactional topic count commit markers too
and never reach zero. Where the projection itself has read up to the end, it knows; elsewhere the end is read once more.
What somebody else wrote behind the last event does not count.
"""

import asyncio
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import Protocol

from schemas.codec import Decoder
from services.runtime.asking import keep_asking
from services.runtime.ends import Ends
from services.runtime.heads import LOOK_BACK, LastRecords
from services.runtime.health import Progress
from services.runtime.metrics import level
from services.runtime.raw_log import Checkpoint
from services.runtime.reader import Record
from services.runtime.settings import Settings
from services.runtime.standstill import Standstill
from services.runtime.strangers import Stranger, claim_of, is_fence
from services.runtime.topics import events

MARKER = 1  # the last offset of a transaction holds no record
FARTHER = 8  # times as far back as before, where no event was found
FARTHEST_BACK = 16 * 8**4  # offsets; behind so many strangers' records the head that was known stays


@dataclass(slots=True)
class Heads:
    """The positions of the last events, looked up again where a partition has grown."""

    settings: Settings
    decoder: Decoder
    positions: dict[int, int] = field(default_factory=dict)
    _ends: dict[int, int] = field(default_factory=dict)
    _last: LastRecords | None = None

    async def renew(self, ends: Ends, read: Mapping[int, Checkpoint]) -> None:
        """Ask the broker; `read` is how far the log was read already. RuntimeFault where the broker does not tell."""
        now = await ends.of(range(self.settings.partitions))
        grown = {partition: end for partition, end in now.items() if end != self._ends.get(partition, 0)}
        met = {
            at: read[at].position for at, end in grown.items() if at in read and end - read[at].next_offset <= MARKER
        }
        if others := {partition: end for partition, end in grown.items() if partition not in met}:
            self._last = self._last or LastRecords(self.settings, events(self.settings))
            met |= await asyncio.to_thread(_positions, self._last, self.decoder, others)
        self.positions |= met
        self._ends = now


class Follows(Protocol):
    """What is watched; a `projections.runner.Runner` is one."""

    reader: str
    positions: dict[int, int]
    read: dict[int, Checkpoint]
    heads: dict[int, int]


async def watch_lag(
    settings: Settings, decoder: Decoder, runner: Follows, progress: Progress, standstill_seconds: float
) -> None:
    """Keep a runner's `heads` fresh, publish the lag of each partition, and tell a standstill, until cancelled."""
    ends, heads = Ends(settings, events(settings)), runner.heads
    known, standstill = Heads(settings, decoder, heads), Standstill("events", standstill_seconds)

    async def ask() -> None:
        await known.renew(ends, dict(runner.read))
        positions = dict(runner.positions)
        for partition, position in positions.items():
            level("lag", max(0, heads.get(partition, 0) - position), process=runner.reader, partition=str(partition))
        standstill.look(heads, positions)

    await keep_asking(ask, progress, who="Kafka")


def head_positions(settings: Settings, decoder: Decoder, ends: Mapping[int, int]) -> dict[int, int]:
    """Return the position of the last event before each of these end offsets, where one is found in time.

    Where strangers' records fill the end of a partition, it is looked for further back.
    """
    with closing(LastRecords(settings, events(settings))) as last:
        return _positions(last, decoder, ends)


def _positions(last: LastRecords, decoder: Decoder, ends: Mapping[int, int]) -> dict[int, int]:
    heads: dict[int, int] = {}
    look_back, open_ends = LOOK_BACK, dict(ends)
    while open_ends and look_back <= FARTHEST_BACK:
        for record in last.before(open_ends, look_back):
            position = _event_position(record, decoder)
            if position is not None:
                heads[record.partition] = max(heads.get(record.partition, 0), position)
        open_ends = {
            partition: end for partition, end in open_ends.items() if partition not in heads and end > look_back
        }
        look_back *= FARTHER
    return heads


def _event_position(record: Record, decoder: Decoder) -> int | None:
    """Return the position of an event, 0 of a fence, None of anything else; RegistryFault where nothing tells."""
    try:
        return 0 if is_fence(record) else claim_of(record, decoder.claim).position
    except Stranger:
        return None
