"""Events that ClickHouse keeps for so many days only: what was summed of them stays, and nobody takes it for a loss."""

from dataclasses import replace

import pytest
from clickhouse_connect.driver.client import Client

from projections.checkpoints import clickhouse_checkpoints
from projections.clickhouse.keeping import FIND
from projections.clickhouse.sink import NotTheSame
from projections.verification.clickhouse import verify_clickhouse
from projections.verification.faults import Fault
from services.runtime.raw_log import Records
from services.runtime.registry import decoder
from services.runtime.settings import Settings
from tests.event_streams import Stream, records_of
from tests.fakes.records import InMemoryRecords
from tests.integration.clickhouse.conftest import Rows
from tests.integration.clickhouse.projecting import STATES, expected_status, go_on, play, streams_of


@pytest.fixture
def streams(settings: Settings) -> list[Stream]:
    streams = streams_of(settings)
    play(streams, 21, 120)
    return streams


def faults_of(settings: Settings, streams: list[Stream]) -> list[Fault]:
    def records(partition: int) -> Records:
        return InMemoryRecords(
            [each for stream in streams if stream.partition == partition for each in records_of(stream)]
        )

    return verify_clickhouse(settings, clickhouse_checkpoints(settings.postgres), records, decoder(settings))[1]


def test_events_past_their_days_go_and_states_and_sums_stay(
    settings: Settings, clickhouse: Client, streams: list[Stream], rows: Rows
) -> None:
    keeping = replace(settings, clickhouse_keep_days=30)  # the stream is of 2025
    go_on(keeping, streams)
    sums = rows("SELECT * FROM funnel_hourly ORDER BY ALL"), rows("SELECT * FROM org_balances ORDER BY ALL")
    clickhouse.command("OPTIMIZE TABLE job_events FINAL")
    assert rows("SELECT count() FROM job_events") == [(0,)]
    assert sums == (rows("SELECT * FROM funnel_hourly ORDER BY ALL"), rows("SELECT * FROM org_balances ORDER BY ALL"))
    assert rows(STATES) == expected_status(streams)
    assert faults_of(keeping, streams) == []
    assert faults_of(settings, streams)  # who keeps all takes it for a loss
    play(streams, 22, 30)
    go_on(keeping, streams)
    assert rows(STATES) == expected_status(streams)
    assert faults_of(keeping, streams) == []


def test_how_long_they_are_kept_can_be_changed_and_taken_back(
    settings: Settings, clickhouse: Client, streams: list[Stream], rows: Rows
) -> None:
    for days in (9_000, 20_000, 0):
        go_on(replace(settings, clickhouse_keep_days=days), streams)
        engine = str(clickhouse.command(FIND))
        assert ("TTL" in engine, f"toIntervalDay({days})" in engine) == (days > 0, days > 0)
    clickhouse.command("OPTIMIZE TABLE job_events FINAL")
    assert faults_of(settings, streams) == []


@pytest.mark.parametrize("days", [0, 30])
def test_one_that_lost_all_is_not_gone_on_with_and_misses_every_job(
    settings: Settings, clickhouse: Client, streams: list[Stream], rows: Rows, days: int
) -> None:
    keeping = replace(settings, clickhouse_keep_days=days)
    go_on(keeping, streams)
    clickhouse.command(f"DROP DATABASE {clickhouse.database}")
    clickhouse.command(f"CREATE DATABASE {clickhouse.database}", settings={"database": "default"})
    with pytest.raises(NotTheSame, match="partition 0: ClickHouse holds events up to position 0"):
        go_on(keeping, streams)
    missed = [each for each in faults_of(keeping, streams) if each.place == "job_status"]
    assert {(each.org_id, each.job_id) for each in missed} == {row[:2] for row in expected_status(streams)}


def test_one_whose_events_were_forgotten_before_stages_were_counted_by_position_is_gone_on_with(
    settings: Settings, clickhouse: Client, streams: list[Stream], rows: Rows
) -> None:
    keeping = replace(settings, clickhouse_keep_days=30)
    go_on(keeping, streams)
    clickhouse.command("OPTIMIZE TABLE job_events FINAL")
    clickhouse.command("TRUNCATE TABLE stage_positions")  # as an update leaves it that found no event any more
    play(streams, 22, 30)
    go_on(keeping, streams)
    assert rows(STATES) == expected_status(streams)
