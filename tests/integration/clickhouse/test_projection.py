"""The projection on the real stores: ClickHouse reads the bytes of the log, and holds each event once."""

from contextlib import closing

import pytest
from clickhouse_connect.driver.client import Client

from projections.clickhouse.erasure import JOBS_AT_ONCE
from projections.clickhouse.insertion import Away, Unreadable
from projections.clickhouse.sink import ClickHouseSink, NotTheSame
from schemas.events import JobSubmitted
from services.runtime.raw_log import RawEntry
from services.runtime.settings import Settings
from tests.event_streams import START, Stream
from tests.integration.clickhouse.conftest import Rows
from tests.integration.clickhouse.projecting import check, go_on, left, play, raws, streams_of

pytestmark = pytest.mark.usefixtures("clickhouse")


class Killed(BaseException):
    """The process is gone from here on."""


@pytest.fixture
def streams(settings: Settings) -> list[Stream]:
    return streams_of(settings)


def test_clickhouse_reads_events_of_every_kind_from_their_bytes(
    settings: Settings, streams: list[Stream], rows: Rows
) -> None:
    play(streams, 1, 600)
    streams[0].fire(2, START)
    go_on(settings, streams)
    check(streams, rows)
    submitted = next(each for each in left(streams[0]) if isinstance(each.event, JobSubmitted))
    [(private, micros, zone)] = rows(
        "SELECT hex(private), toUnixTimestamp64Micro(occurred_at), toTypeName(occurred_at) "
        "FROM job_events WHERE partition = 0 AND event_type = 'JobSubmitted' ORDER BY position LIMIT 1"
    )
    assert isinstance(submitted.event, JobSubmitted)
    assert private == submitted.event.private.hex().upper()
    assert (micros, zone) == (submitted.header.occurred_at, "DateTime64(6, 'UTC')")


@pytest.mark.parametrize("moment", ["planned", "inserted"])
def test_killed_around_an_insert_while_events_arrive_it_counts_each_once(
    settings: Settings, streams: list[Stream], rows: Rows, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    for seed in range(3):
        play(streams, seed * 10, 150)

        def die(*_arguments: object) -> None:
            raise Killed

        with monkeypatch.context() as patch:
            target = "insertion.Insertion.insert" if moment == "planned" else "books.Books.done"
            patch.setattr(f"projections.clickhouse.{target}", die)
            with pytest.raises(Killed):
                go_on(settings, streams)
        play(streams, seed * 10 + 5, 150)
        go_on(settings, streams)
        check(streams, rows)


def test_what_was_planned_is_inserted_first_and_only_once_it_is_complete(
    settings: Settings, streams: list[Stream], rows: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_arguments: object) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr("projections.clickhouse.books.Books.done", die)
        with pytest.raises(Killed):
            go_on(settings, streams)
    first = sum(len(stream.events) for stream in streams)
    play(streams, 3, 100)
    with closing(ClickHouseSink(settings)) as sink:
        assert sink.lock()
        assert {each.position for each in sink.checkpoints(range(settings.partitions)).values()} == {0}
        assert sink.write(raws(streams[1])) == {}
        assert rows("SELECT count() FROM job_events") == [(first,)]
        moved = sink.write(raws(streams[0]))
        assert {partition: at.position for partition, at in moved.items()} == {
            stream.partition: len(stream.events) for stream in streams
        }
    check(streams, rows)


def test_a_crowd_of_deleted_jobs_of_all_partitions_is_erased_by_two_deletions(
    settings: Settings, streams: list[Stream], rows: Rows, clickhouse: Client
) -> None:
    for stream in streams:
        for number in range(JOBS_AT_ONCE // 2):
            job = stream.submit(number)
            stream.end_early(job, number)
            if number % 7:
                stream.delete(job)
    go_on(settings, streams)
    check(streams, rows)
    [(commands,)] = rows("SELECT count() FROM system.mutations WHERE database = currentDatabase()")
    assert commands == 2


def test_an_event_that_clickhouse_cannot_read_stops_it_naming_the_offset(
    settings: Settings, streams: list[Stream], rows: Rows
) -> None:
    play(streams, 4, 200)
    entries = raws(streams[0])
    bad = entries[123]
    entries[123] = RawEntry(bad.raw[:5] + b"\xff" * 9, bad.partition, bad.offset, bad.position, "")
    with closing(ClickHouseSink(settings)) as sink:
        assert sink.lock()
        sink.checkpoints(range(settings.partitions))
        with pytest.raises(Unreadable, match=f"partition 0, offset {bad.offset}, position {bad.position}"):
            sink.write(entries)
    assert rows("SELECT count() FROM job_events") == [(0,)]


@pytest.mark.parametrize("lost", ["job_events", "job_events_probe"])
def test_where_a_table_is_gone_no_event_is_blamed(
    settings: Settings, streams: list[Stream], clickhouse: Client, lost: str
) -> None:
    play(streams, 4, 20)
    with closing(ClickHouseSink(settings)) as sink:
        assert sink.lock()
        sink.checkpoints(range(settings.partitions))
        clickhouse.command("DROP TABLE job_events")
        clickhouse.command(f"DROP TABLE IF EXISTS {lost}")
        with pytest.raises(Away):
            sink.write(raws(streams[0]))


def test_a_clickhouse_that_lost_rows_or_got_others_is_not_continued(
    settings: Settings, streams: list[Stream], clickhouse: Client
) -> None:
    play(streams, 5, 50)
    go_on(settings, streams)
    clickhouse.command("TRUNCATE TABLE job_events")
    with pytest.raises(NotTheSame, match="partition 0: ClickHouse holds events up to position 0"):
        go_on(settings, streams)
