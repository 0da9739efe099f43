"""The writer of ClickHouse on a real server: one row per job, destination and newest generation."""

import json
from collections.abc import AsyncIterator

import msgspec
import pytest

from services.runtime.settings import Settings
from services.writers.clickhouse.writer import TABLE, ClickHouseWriter
from services.writers.writer import DestinationDown, written
from tests.integration.clickhouse.conftest import Rows
from tests.unit.workers.fakes import MemoryBlobs
from tests.unit.writers.fakes import delivery

pytestmark = pytest.mark.usefixtures("clickhouse")
NAMES = "SELECT job_id, JSONExtractString(normalized, 'name') FROM extraction_results FINAL ORDER BY job_id"


@pytest.fixture
def blobs() -> MemoryBlobs:
    blobs = MemoryBlobs()
    for ref in ("e1", "e2"):
        blobs.blobs[ref] = json.dumps({"normalized": {"name": f"of {ref}"}}).encode()
    return blobs


@pytest.fixture
async def writer(settings: Settings, blobs: MemoryBlobs) -> AsyncIterator[ClickHouseWriter]:
    writer = ClickHouseWriter(settings.clickhouse, blobs, settings.clickhouse_migration_seconds)
    yield writer
    await writer.close()


async def test_a_batch_written_twice_is_there_once(writer: ClickHouseWriter, rows: Rows) -> None:
    batch = [delivery(number, kind="clickhouse", extraction_ref="e1") for number in range(5)]
    for _ in range(2):
        assert await writer.write(batch) == [written(each, place=TABLE) for each in batch]
    assert rows("SELECT count(), uniqExact(job_id) FROM extraction_results") == [(5, 5)]


async def test_a_newer_generation_replaces_an_older_one_and_never_the_other_way(
    writer: ClickHouseWriter, rows: Rows
) -> None:
    old, new = delivery(1, extraction_ref="e1"), delivery(1, generation=2, extraction_ref="e2")
    for one in (old, new, msgspec.structs.replace(old, try_number=2)):
        await writer.write([one])
    assert rows(NAMES) == [("job-1", "of e2")]
    assert rows("SELECT count() FROM extraction_results") == [(3,)]


async def test_two_destinations_of_a_job_have_a_row_each(writer: ClickHouseWriter, rows: Rows) -> None:
    await writer.write([delivery(1, extraction_ref="e1"), delivery(1, destination_id="lake", extraction_ref="e2")])
    assert rows("SELECT destination_id FROM extraction_results FINAL ORDER BY 1") == [("internal",), ("lake",)]


async def test_what_cannot_be_read_is_refused_alone(writer: ClickHouseWriter, blobs: MemoryBlobs, rows: Rows) -> None:
    blobs.blobs["bad"] = b"{"
    batch = [delivery(1, extraction_ref="e1"), delivery(2, extraction_ref="bad"), delivery(3, extraction_ref="gone")]
    answers = await writer.write(batch)
    assert [each.error_type for each in answers] == ["", "extraction_unreadable", "extraction_missing"]
    assert rows("SELECT job_id FROM extraction_results") == [("job-1",)]


async def test_a_server_that_does_not_answer_is_down(blobs: MemoryBlobs) -> None:
    writer = ClickHouseWriter("http://127.0.0.1:9/jobledger", blobs, 60)
    with pytest.raises(DestinationDown):
        await writer.write([delivery(1, extraction_ref="e1")])


async def test_44_rows_of_a_deleted_job_go_also_those_that_are_written_late(
    writer: ClickHouseWriter, rows: Rows
) -> None:
    one, other = delivery(1, extraction_ref="e1"), delivery(2, extraction_ref="e2")
    await writer.write([one, other])
    erasure = msgspec.structs.replace(one, destination_id="erasure-clickhouse", erase=True)
    assert await writer.write([erasure]) == [written(erasure, rows=0)]
    assert rows("SELECT job_id FROM extraction_results") == [("job-2",)]
    await writer.write([msgspec.structs.replace(one, try_number=2)])
    assert rows("SELECT job_id FROM extraction_results") == [("job-2",)]


async def test_44_a_batch_of_deletions_is_one_mutation_and_its_repeat_none(
    writer: ClickHouseWriter, rows: Rows
) -> None:
    batch = [delivery(number, extraction_ref="e1") for number in range(1, 6)]
    await writer.write(batch)
    erasures = [msgspec.structs.replace(each, destination_id="erasure-clickhouse", erase=True) for each in batch[:4]]
    for _ in range(3):
        assert await writer.write(erasures) == [written(each, rows=0) for each in erasures]
    assert rows("SELECT job_id FROM extraction_results") == [("job-5",)]
    mutations = (
        "SELECT count() FROM system.mutations WHERE database = currentDatabase() AND table = 'extraction_results'"
    )
    assert rows(mutations) == [(1,)]
