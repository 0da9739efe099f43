"""Scenarios 69, 71 and 73 on ClickHouse: kills, thawed processes, many orgs, a long past, events out of order."""

import os
from collections.abc import Sequence
from contextlib import closing
from itertools import product

import pytest
from clickhouse_connect.driver.client import Client
from msgspec.structs import replace

from projections.clickhouse.books import Books
from projections.clickhouse.gathering import MOST_EVENTS, GatheringLog
from projections.clickhouse.insertion import Insertion
from projections.clickhouse.migrate import migrate_tables
from projections.clickhouse.plan import Plan
from projections.clickhouse.sink import ClickHouseSink
from schemas.recorded import Recorded
from services.runtime.raw_log import RawEntry
from services.runtime.registry import encoder
from services.runtime.settings import Settings
from tests.event_streams import Stream
from tests.integration.clickhouse.conftest import Rows
from tests.integration.clickhouse.conftest import clickhouse as clickhouse
from tests.integration.clickhouse.conftest import rows as rows
from tests.integration.clickhouse.projecting import check, go_on, raws
from tests.integration.clickhouse.views.asked import QUERIES, answers_as_counted
from tests.integration.clickhouse.views.history import history, kept_jobs

DAY = 86_400_000_000  # microseconds
KILLS = 50
EVENTS = 4  # of each partition that come between two kills
# Inserts before the oldest one thaws. 1000, as the scenario has it, take minutes (`make scenarios`).
# ClickHouse remembers 10,000.
BLOCKS = int(os.environ.get("JOBLEDGER_TEST_BLOCKS", "50"))
BLOCKS_MADE = (
    "SELECT max(max_block_number) FROM system.parts WHERE database = currentDatabase() AND table = 'job_events'"
)
WINDOWS = """
SELECT toUInt64OrZero(extract(create_table_query, 'non_replicated_deduplication_window = ([0-9]+)'))
FROM system.tables WHERE database = currentDatabase() AND name IN ('job_events', 'job_states', 'stage_positions')
"""
# The scenario has 300 seconds: 600 inserts, which take minutes (`make scenarios`).
SECONDS, ORGS, MOST_PARTS = int(os.environ.get("JOBLEDGER_TEST_SECONDS", "55")), 300, 100
PARTS = "SELECT table, partition, count() FROM system.parts WHERE database = currentDatabase() AND active GROUP BY ALL"
PARTITIONED = "SELECT DISTINCT partition_key FROM system.tables WHERE database = currentDatabase()"
READ = "SELECT count(), uniqExact(event_id) FROM job_events"


class Killed(BaseException):
    """The process is gone from here on."""


def killed_behind_its_insert(settings: Settings, streams: list[Stream], upto: int, left: int) -> None:
    """Let a new process insert up to a position and die before it notes that its last insert was made.

    `left` is how many it notes before: one where it has to end what the one before it was killed in.
    """
    done = Books.done
    allowed = [None] * left

    def die(books: Books, plan: Plan) -> None:
        if not allowed:
            raise Killed
        allowed.pop()
        done(books, plan)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Books, "done", die)
        with pytest.raises(Killed):
            go_on(settings, streams, upto)


def test_69_killed_50_times_behind_an_insert_and_thawed_long_after_every_query_counts_each_event_once(
    settings: Settings, clickhouse: Client, rows: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It dies in this process, at the point; the projection's own tests and `make chaos` kill processes."""
    streams = history(settings, 11)
    jobs, insert = kept_jobs(streams), Insertion.insert
    frozen: list[tuple[Insertion, Sequence[RawEntry], str]] = []

    def remember(self: Insertion, entries: Sequence[RawEntry], token: str) -> None:
        frozen.append((self, entries, token))
        insert(self, entries, token)

    def check_queries() -> None:
        for org, name in product(("", "globex"), QUERIES):
            answers_as_counted(clickhouse, name, streams, jobs, org)

    monkeypatch.setattr(Insertion, "insert", remember)
    for kill in range(KILLS):
        killed_behind_its_insert(settings, streams, (kill + 1) * EVENTS, left=min(kill, 1))
    behind = KILLS * EVENTS
    last = max(len(stream.events) for stream in streams)
    for upto in range(behind, last, max((last - behind) // max(BLOCKS - KILLS, 1), 1)):
        go_on(settings, streams, upto)
    go_on(settings, streams)
    assert int(str(rows(BLOCKS_MADE)[0][0])) >= BLOCKS
    assert len({token for _, _, token in frozen}) >= BLOCKS
    for zombie, entries, token in (frozen[0], frozen[KILLS], frozen[-1]):
        insert(zombie, entries, token)
    check(streams, rows)
    [(read, distinct)] = rows(READ)
    assert read == distinct
    check_queries()
    assert [window for (window,) in rows(WINDOWS) if int(str(window)) >= 10_000] == [10_000] * 3

    insert(*frozen[0][:2], "a token that ClickHouse has forgotten")
    assert rows(READ)[0][0] == int(str(read)) + len(frozen[0][1])
    check_queries()


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
    """A log to which so many events a second are added, one after the other; waiting for it moves its clock."""

    def __init__(self, entries: Sequence[RawEntry], pace: int) -> None:
        self.entries, self.pace, self.now, self.read = entries, pace, 0.0, 0

    def poll(self, max_events: int, timeout_seconds: float) -> list[RawEntry]:
        """Return what has come, at once, or the next event as soon as it comes."""
        due = self.read / self.pace
        if self.read == len(self.entries) or due > self.now + timeout_seconds:
            self.now += timeout_seconds
            return []
        self.now = max(self.now, due)
        come = max(int(self.now * self.pace) - self.read, 1)
        first, self.read = self.read, self.read + min(come, max_events)
        return list(self.entries[first : self.read])

    def close(self) -> None:
        """Nothing is held."""


def test_71_300_orgs_at_an_event_a_second_are_two_inserts_a_second_and_few_parts(
    settings: Settings, clickhouse: Client, rows: Rows
) -> None:
    """The clock is simulated, so the inserts follow each other faster: merges have less time than they would have."""
    stream = Stream(orgs=tuple(f"org-{number}" for number in range(ORGS)), encoder=encoder(settings)).open()
    while len(stream.events) < ORGS * SECONDS:
        stream.submit(len(stream.jobs))
    at_times(stream, 1_000_000 // ORGS)
    trickle = Trickle(raws(stream), ORGS)
    log, inserts, most = GatheringLog(trickle, lambda: trickle.now), 0, 0
    with closing(ClickHouseSink(settings)) as sink:
        assert sink.lock()
        sink.checkpoints(range(settings.partitions))
        while came := log.poll(MOST_EVENTS, 0.1):
            assert sink.write(came)
            inserts += 1
            if inserts % 10 == 0:
                most = max(most, *(int(str(parts)) for _, _, parts in rows(PARTS)))
    assert most < MOST_PARTS
    assert MOST_PARTS < inserts <= 2 * SECONDS + 1, "or there was nothing to merge"
    assert rows(READ) == [(len(stream.events), len(stream.events))]
    assert set(rows(PARTITIONED)) <= {("",), ("toYYYYMM(occurred_at)",), ("toYYYYMM(hour)",)}, "not by org, not by day"


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
    parts = rows(PARTS)
    assert max(int(str(row[2])) for row in parts) < MOST_PARTS
    months = {row[1] for row in parts if row[0] == "job_events"}
    assert 13 <= len(months) <= 15  # not one for each org or day: an insert may touch 100 at most


def test_73_events_delivered_1_3_2_3_1_leave_the_row_at_3_and_each_once_in_the_trace(
    settings: Settings, clickhouse: Client, rows: Rows
) -> None:
    """Each as an insert of its own, whose token nobody knows: not even the checkpoints help."""
    stream = Stream(encoder=encoder(settings)).open()
    job = stream.submit()
    stream.dispatch(job)
    stream.claim(job)
    of_job = raws(stream)[-3:]
    migrate_tables(settings)
    insertion = Insertion(clickhouse, settings.registry, "events")
    for number, seq in enumerate((1, 3, 2, 3, 1)):
        insertion.insert([of_job[seq - 1]], f"token {number}")
    assert rows("SELECT status, seq, attempt FROM job_status") == [("running", 3, 1)]
    assert rows("SELECT seq, count() FROM job_events GROUP BY seq ORDER BY seq") == [(1, 2), (2, 1), (3, 2)]
    stays = "SELECT state, toUnixTimestamp64Micro(entered_at), left_at IS NULL FROM state_times ORDER BY entered_at"
    first, _, last = (each.header.occurred_at for each in stream.events[-3:])
    assert rows(stays) == [("pending", first, False), ("running", last, True)]
    assert rows("SELECT sum(submitted), sum(dispatched), sum(claimed) FROM funnel_hourly") == [(1, 1, 1)]
