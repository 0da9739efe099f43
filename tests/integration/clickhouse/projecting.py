"""Streams of events, and the projection of them into ClickHouse, as a process does it."""

import random
from contextlib import closing

from projections.clickhouse.sink import ClickHouseSink
from services.runtime.raw_log import RawEntry
from services.runtime.registry import encoder
from services.runtime.settings import Settings
from tests.event_streams import Stream


def streams_of(settings: Settings) -> list[Stream]:
    """Begin two partitions."""
    return [Stream(partition, encoder=encoder(settings)).open() for partition in range(2)]


def raws(stream: Stream, behind: int = 0) -> list[RawEntry]:
    """Return a stream as the log would hand it out; its offsets skip some numbers, as commit markers do."""
    return [
        RawEntry(raw, stream.partition, position * 2, position, [])
        for position, raw in enumerate(stream.raws, start=1)
        if position > behind
    ]


def play(streams: list[Stream], seed: int, length: int) -> None:
    for stream in streams:
        chosen = random.Random(seed + stream.partition)
        stream.play(chosen.randrange(16 * 40) for _ in range(length))


def go_on(settings: Settings, streams: list[Stream]) -> None:
    """Open the projection as a new process does, and let it read to the end of the log."""
    with closing(ClickHouseSink(settings)) as sink:
        assert sink.lock()
        at = sink.checkpoints(range(settings.partitions))
        sink.write([entry for stream in reversed(streams) for entry in raws(stream, at[stream.partition].position)])
