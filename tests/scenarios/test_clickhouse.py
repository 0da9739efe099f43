"""Scenarios 71 and 77 on ClickHouse: many orgs and a long past in one insert, and two events a microsecond apart."""

from msgspec.structs import replace

from projections.clickhouse.gathering import MOST_EVENTS, GatheringLog
from schemas.events import JobSubmitted
from schemas.recorded import Recorded
from services.runtime.raw_log import RawEntry
from services.runtime.registry import encoder
from services.runtime.settings import Settings
from tests.event_streams import Stream
from tests.integration.clickhouse.conftest import Rows
from tests.integration.clickhouse.conftest import clickhouse as clickhouse
from tests.integration.clickhouse.conftest import rows as rows
from tests.integration.clickhouse.projecting import go_on

DAY = 86_400_000_000  # microseconds


def at_times(stream: Stream, step: int) -> list[int]:
    """Let so many microseconds lie between two events of a stream, and return when each occurred."""
    first = stream.events[0].header.occurred_at
    times = [first + number * step for number in range(len(stream.events))]
    stream.events = [
        Recorded(replace(each.header, occurred_at=time), each.event)
        for each, time in zip(stream.events, times, strict=True)
    ]
    stream.raws = [stream.encoder.encode(each) for each in stream.events]
    return times


class Trickle:
    """A log to which each org adds an event a second, one after the other; waiting for it moves its clock."""

    def __init__(self, orgs: int, seconds: int) -> None:
        self.orgs, self.seconds, self.now, self.read = orgs, seconds, 0.0, 0

    def poll(self, max_events: int, timeout_seconds: float) -> list[RawEntry]:
        """Return what has come, at once, or the next event as soon as it comes."""
        due = self.read / self.orgs
        if self.read == self.orgs * self.seconds or due > self.now + timeout_seconds:
            self.now += timeout_seconds
            return []
        self.now = max(self.now, due)
        come = max(int(self.now * self.orgs) - self.read, 1)
        first, self.read = self.read, min(self.read + min(come, max_events), self.orgs * self.seconds)
        headers = [("ce_type", f"jobledger.{JobSubmitted.__name__}".encode())]
        return [RawEntry(b"", 0, 2 * at, at, headers, f"org-{at % self.orgs}") for at in range(first, self.read)]

    def close(self) -> None:
        """Nothing is held."""


def test_71_300_orgs_at_an_event_a_second_for_5_minutes_are_two_inserts_a_second() -> None:
    trickle = Trickle(orgs=300, seconds=300)
    log, inserts = GatheringLog(trickle, lambda: trickle.now), list[list[RawEntry]]()
    while trickle.now < trickle.seconds:
        inserts.append(log.poll(MOST_EVENTS, 0.1))
    assert [each.position for insert in inserts for each in insert] == list(range(300 * 300))
    assert len(inserts) <= 2 * trickle.seconds + 1
    assert len({each.org_id for insert in inserts[:3] for each in insert}) == 300, "an insert takes of all orgs"


def test_71_300_orgs_and_400_days_at_once_make_few_parts(settings: Settings, rows: Rows) -> None:
    stream = Stream(orgs=tuple(f"org-{number}" for number in range(300)), encoder=encoder(settings)).open()
    for number in range(300):
        job = stream.submit(number)
        stream.dispatch(job)
        stream.claim(job)
        stream.extract(job)
    at_times(stream, 400 * DAY // len(stream.events))
    go_on(settings, [stream])
    assert rows("SELECT count(), uniqExact(org_id) - 1 FROM job_events") == [(len(stream.events), 300)]
    parts = rows(
        "SELECT table, partition, count() FROM system.parts WHERE database = currentDatabase() AND active GROUP BY ALL"
    )
    assert max(int(str(row[2])) for row in parts) < 100
    months = {row[1] for row in parts if row[0] == "job_events"}
    assert 13 <= len(months) <= 15  # not one for each org or day: an insert may touch 100 at most


def test_77_events_a_microsecond_apart_keep_their_order_and_their_times(settings: Settings, rows: Rows) -> None:
    stream = Stream(encoder=encoder(settings)).open()
    job = stream.submit()
    stream.dispatch(job)
    stream.claim(job)
    times = at_times(stream, 1)
    go_on(settings, [stream])
    found = rows("SELECT toUnixTimestamp64Micro(occurred_at) FROM job_events ORDER BY occurred_at, position")
    assert found == [(time,) for time in times]
    positions = rows("SELECT position FROM job_events ORDER BY occurred_at")
    assert positions == [(number,) for number in range(1, len(times) + 1)]
    [(entered, left)] = rows(
        "SELECT toUnixTimestamp64Micro(entered_at), toUnixTimestamp64Micro(assumeNotNull(left_at)) FROM state_times "
        "WHERE state = 'pending'"
    )
    assert (entered, left) == (times[-3], times[-1])
