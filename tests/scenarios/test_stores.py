"""Scenarios 72 to 77: our stores hold every event and every row once, in their order, whatever was repeated."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import closing
from typing import Any

import psycopg
import pytest
from clickhouse_connect.driver.client import Client
from psycopg.rows import dict_row

from projections.clickhouse.sink import ClickHouseSink
from projections.migrate import SCHEMA
from projections.postgres.store import Store
from services.ledger.tasks import Delivery
from services.runtime.settings import Settings
from services.runtime.shredding.vault import Vault
from services.writers.clickhouse.writer import ClickHouseWriter
from services.writers.postgres.writer import PostgresWriter
from tests.event_streams import Stream, entries_of
from tests.integration.clickhouse.conftest import Rows
from tests.integration.clickhouse.conftest import clickhouse as clickhouse
from tests.integration.clickhouse.conftest import rows as rows
from tests.integration.clickhouse.projecting import check, go_on, play, raws, streams_of
from tests.integration.projections.conftest import Connection, Project
from tests.integration.projections.conftest import database as database
from tests.integration.projections.conftest import project as project
from tests.integration.projections.conftest import store as store
from tests.unit.workers.fakes import MemoryBlobs
from tests.unit.writers.fakes import delivery


def _encoded(settings: Settings, streams: list[Stream]) -> list[Stream]:
    """Return the streams in the bytes of the registry of this stack."""
    for stream, encoder in zip(streams, (each.encoder for each in streams_of(settings)), strict=False):
        stream.raws = [encoder.encode(each) for each in stream.events]
    return streams


@pytest.fixture
def blobs() -> MemoryBlobs:
    """Extractions e1 to e3, and one of each job."""
    held = MemoryBlobs()
    for ref in ("e1", "e2", "e3"):
        held.blobs[ref] = json.dumps({"normalized": {"name": ref}}).encode()
    return held


@pytest.fixture
async def writers(settings: Settings, blobs: MemoryBlobs) -> AsyncIterator[list[PostgresWriter]]:
    """Two writers of one store."""
    two = [PostgresWriter(settings.postgres, blobs) for _ in range(2)]
    yield two
    for each in two:
        await each.close()


def _results(settings: Settings) -> list[dict[str, Any]]:
    with psycopg.connect(settings.postgres, row_factory=dict_row) as connection:
        found = connection.execute("SELECT * FROM extraction.extraction_results ORDER BY job_id").fetchall()
        return list(found)


def _deadlocks(settings: Settings) -> Any:
    with psycopg.connect(settings.postgres) as connection:
        connection.execute("SELECT pg_stat_force_next_flush()")
        row = connection.execute("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()").fetchone()
    assert row
    return row[0]


async def test_72_two_writers_that_touch_100_jobs_in_opposite_order_do_not_block_each_other(
    settings: Settings, writers: list[PostgresWriter], blobs: MemoryBlobs
) -> None:
    one, other = writers
    for generation in range(1, 6):
        batch = [delivery(number, generation=generation, extraction_ref="e1") for number in range(100)]
        answers = await asyncio.gather(one.write(batch), other.write(batch[::-1]))
        assert not [each for results in answers for each in results if each.error_type]
    assert {row["generation"] for row in _results(settings)} == {5}
    assert len(_results(settings)) == 100
    assert _deadlocks(settings) == 0


SENT = (1, 3, 2, 3, 1)


async def test_73_an_older_generation_that_comes_late_overwrites_no_newer_row(
    settings: Settings, writers: list[PostgresWriter], clickhouse: Client, blobs: MemoryBlobs, rows: Rows
) -> None:
    lake = ClickHouseWriter(settings.clickhouse, blobs, settings.clickhouse_migration_seconds)
    sent = [delivery(1, generation=each, extraction_ref=f"e{each}") for each in SENT]
    for number, each in enumerate(sent):
        for results in (await writers[number % 2].write([each]), await lake.write([each])):
            assert [result.error_type for result in results] == [""]
    await lake.close()
    [row] = _results(settings)
    assert (row["generation"], row["normalized"]) == (3, {"name": "e3"})
    found = rows("SELECT generation, JSONExtractString(normalized, 'name') FROM extraction_results FINAL")
    assert found == [(3, "e3")]


async def test_73_also_within_one_batch(settings: Settings, writers: list[PostgresWriter]) -> None:
    batch: list[Delivery] = [delivery(1, generation=each, extraction_ref=f"e{each}") for each in SENT]
    assert [each.error_type for each in await writers[0].write(batch)] == [""] * len(SENT)
    assert [row["generation"] for row in _results(settings)] == [3]


def test_73_what_the_read_model_has_folded_is_not_folded_again(project: Project, database: Connection) -> None:
    stream = Stream().open()
    job = stream.submit()
    stream.dispatch(job)
    stream.claim(job)
    entries = entries_of(stream)
    for upto in (len(entries) - 2, len(entries), len(entries) - 1, len(entries), len(entries) - 2):
        project(entries[:upto])
    assert database.execute("SELECT seq FROM jobs").fetchall() == [(3,)]
    assert database.execute("SELECT seq FROM job_transitions ORDER BY seq").fetchall() == [(1,), (2,), (3,)]


def test_74_of_two_projections_one_writes_and_the_second_doubles_nothing(
    settings: Settings, store: Store, rows: Rows, clickhouse: Client
) -> None:
    streams = streams_of(settings)
    play(streams, 74, 40)
    with closing(ClickHouseSink(settings)) as first, closing(ClickHouseSink(settings)) as second:
        assert first.lock()
        assert not second.lock()
        at = first.checkpoints(range(settings.partitions))
        first.write([entry for stream in streams for entry in raws(stream, at[stream.partition].position)])
    with closing(Store(settings.postgres, SCHEMA, Vault(settings.credentials_key))) as other:
        assert not other.lock()
    go_on(settings, streams)
    check(streams, rows)


async def test_74_two_writers_that_get_the_same_records_leave_one_row_each(
    settings: Settings, writers: list[PostgresWriter]
) -> None:
    batch = [delivery(number, extraction_ref="e1") for number in range(20)]
    for results in await asyncio.gather(*(each.write(batch) for each in writers)):
        assert not [each for each in results if each.error_type]
    assert len(_results(settings)) == 20


def test_77_events_a_microsecond_apart_keep_their_order_and_their_times_in_both_stores(
    settings: Settings,
    project: Project,
    database: Connection,
    clickhouse: Client,
    rows: Rows,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tests.event_streams.STEP", 1)
    stream = Stream().open()
    for number in range(200):
        stream.submit(number)
    project(entries_of(stream))
    go_on(settings, _encoded(settings, [stream]))
    said = [(each.header.position, each.header.occurred_at) for each in stream.events if each.event.job_id]
    assert [at - said[0][1] for _, at in said] == list(range(len(said)))
    micros = "(extract(epoch FROM occurred_at) * 1000000)::bigint"
    in_postgres = database.execute(f"SELECT position, {micros} FROM job_transitions ORDER BY occurred_at".encode())
    assert in_postgres.fetchall() == said
    assert said == rows(
        "SELECT position, toUnixTimestamp64Micro(occurred_at) FROM job_events WHERE job_id != '' ORDER BY occurred_at"
    )
