"""Streams of events, the projection of them into ClickHouse, as a process does it, and what has to be there then."""

import random
import sys
from collections import Counter
from contextlib import closing

from projections.clickhouse.sink import ClickHouseSink
from projections.verification.expected import is_deleted, job_row
from schemas.events import JobDeleted
from schemas.recorded import Recorded
from services.runtime.raw_log import RawEntry
from services.runtime.registry import encoder
from services.runtime.settings import Settings
from tests.event_streams import Stream
from tests.integration.clickhouse.conftest import Rows

STATES = "SELECT org_id, job_id, status, error_type, seq FROM job_status ORDER BY 1, 2"
STAGES = {
    "submitted": "JobSubmitted",
    "dispatched": "JobDispatched",
    "claimed": "JobClaimed",
    "retried": "RetryScheduled",
    "extracted": "JobExtracted",
    "completed": "JobCompleted",
    "failed": "JobFailed",
    "cancelled": "JobCancelled",
}


def streams_of(settings: Settings) -> list[Stream]:
    """Begin two partitions."""
    return [Stream(partition, encoder=encoder(settings), modules=True).open() for partition in range(2)]


def raws(stream: Stream, behind: int = 0, upto: int = sys.maxsize) -> list[RawEntry]:
    """Return a stream as the log would hand it out; its offsets skip some numbers, as commit markers do."""
    return [
        RawEntry(raw, stream.partition, position * 2, position, recorded.header.event_type, recorded.event.org_id)
        for position, (recorded, raw) in enumerate(zip(stream.events, stream.raws, strict=True), start=1)
        if behind < position <= upto
    ]


def play(streams: list[Stream], seed: int, length: int) -> None:
    for stream in streams:
        chosen = random.Random(seed + stream.partition)
        stream.play(chosen.randrange(16 * 40) for _ in range(length))


def go_on(settings: Settings, streams: list[Stream], upto: int = sys.maxsize) -> None:
    """Open the projection as a new process does, and let it read to the end of the log, or up to a position of each."""
    with closing(ClickHouseSink(settings)) as sink:
        assert sink.lock()
        at = sink.checkpoints(range(settings.partitions))
        read = (raws(stream, at[stream.partition].position, upto) for stream in reversed(streams))
        sink.write([entry for entries in read for entry in entries])


def expected_status(streams: list[Stream]) -> list[tuple[object, ...]]:
    found = []
    for stream in streams:
        jobs: dict[tuple[str, str], list[Recorded]] = {}
        for recorded in stream.events:
            if recorded.event.job_id:
                jobs.setdefault((recorded.event.org_id, recorded.event.job_id), []).append(recorded)
        kept = {key: events for key, events in jobs.items() if not is_deleted(events)}
        for key, events in kept.items():
            row = job_row(events)
            error = "cancelled" if row["status"] == "cancelled" else row["error_type"] or ""
            found.append((*key, row["status"], error, len(events)))
    return sorted(found)


def left(stream: Stream) -> list[Recorded]:
    """Return the events that stay: those of a deleted job from its JobDeleted on."""
    deleted = {each.event.job_id: each.header.position for each in stream.events if isinstance(each.event, JobDeleted)}
    return [each for each in stream.events if each.header.position >= deleted.get(each.event.job_id, 0)]


def check(streams: list[Stream], rows: Rows) -> None:
    """Compare ClickHouse with the streams: the set of events, the state of each job, the views' counts."""
    events = [recorded for stream in streams for recorded in stream.events]
    held = rows("SELECT partition, position, hex(event_id) FROM job_events ORDER BY 1, 2")
    wanted = [
        (each.header.partition, each.header.position, each.header.event_id.hex().upper())
        for stream in streams
        for each in left(stream)
    ]
    assert held == sorted(wanted)
    assert rows(STATES) == expected_status(streams)
    types = Counter(each.header.event_type for each in events)
    sums = ", ".join(f"sum({stage})" for stage in STAGES)
    assert rows(f"SELECT {sums} FROM funnel_hourly") == [tuple(types[name] for name in STAGES.values())]
