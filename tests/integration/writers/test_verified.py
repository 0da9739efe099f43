"""Verification of what the writers wrote: silent on their rows, and naming one that was edited, deleted or added."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import ExitStack, closing

import psycopg
import pytest

from projections.verification.documents import documents_of
from projections.verification.log import read_partition
from projections.verification.results import Results
from projections.verification.snapshot import snapshot_of
from projections.verification.stores import ClickHouseResults, PostgresResults
from schemas.avro_of import record_schema
from schemas.codec import Decoder
from schemas.events import EVENT_TYPES
from schemas.values import Destination
from services.runtime.blob import BlobStore
from services.runtime.clickhouse import connect
from services.runtime.settings import Settings
from services.writers.clickhouse.writer import ClickHouseWriter
from services.writers.postgres.writer import PostgresWriter
from tests.event_streams import Stream, records_of
from tests.fakes.records import InMemoryRecords
from tests.unit.writers.fakes import delivery

INTERNAL = Destination(destination_id="internal", kind="postgres")
LAKE = Destination(destination_id="lake", kind="clickhouse")
EXTRACTION = {"normalized": {"name": "a\0b", "price": 12.50, "tags": ["x", "é"]}, "replacedCharacters": 1}
NUMBERS = ("quality_completeness", "quality_validation", "quality_composite", "latency_ms", "replaced_characters")
TEXTS = ("domain", "schema_id", "data_type", "raw_blob_key")


class Written:
    """Three acknowledged deliveries of one kind, and ways to meddle with their rows."""

    def __init__(self, settings: Settings, destination: Destination) -> None:
        self.settings = settings
        self.kind = destination.kind
        self.stream = Stream().open()
        blobs = BlobStore(settings.blobs)
        lake = ClickHouseWriter(settings.clickhouse, blobs, settings.clickhouse_migration_seconds)
        writer = PostgresWriter(settings.postgres, blobs) if self.kind == "postgres" else lake
        deliveries = []
        for number in range(3):
            job = self.stream.submit(0, (destination,))
            self.stream.dispatch(job)
            self.stream.claim(job)
            ref = f"acme/{job.job_id}/1/extraction" if number else ""
            self.stream.extract(job, ref)
            self.stream.ack(job, destination.destination_id)
            deliveries.append(
                delivery(
                    org_id=job.org_id,
                    job_id=job.job_id,
                    destination_id=destination.destination_id,
                    kind=self.kind,
                    result_ref=f"results/{job.job_id}",
                    extraction_ref=ref,
                    schema_id="",
                    data_type="",
                    quality_completeness=0.0,
                    quality_validation=0.0,
                    quality_composite=0.0,
                    latency_ms=7,
                )
            )

        async def write() -> None:
            for each in deliveries:
                if each.extraction_ref:
                    await blobs.put(each.extraction_ref, json.dumps(EXTRACTION).encode())
            assert [each.error_type for each in await writer.write(deliveries)] == [""] * 3
            await writer.close()

        asyncio.run(write())
        self.job_id = self.stream.jobs[1].job_id

    def faults(self) -> list[tuple[str, str]]:
        """Return the jobs and columns that verification names."""
        names = dict(enumerate(EVENT_TYPES, start=1))
        decoder = Decoder(lambda schema_id: record_schema(names[schema_id]))

        def opened(_partition: int) -> InMemoryRecords:
            return InMemoryRecords(records_of(self.stream))

        log = read_partition(opened, decoder, 0, len(self.stream.events))
        assert log.faults == []
        with ExitStack() as stack:
            if self.kind == "postgres":
                store: PostgresResults | ClickHouseResults = PostgresResults(
                    stack.enter_context(snapshot_of(self.settings.postgres))
                )
            else:
                store = ClickHouseResults(stack.enter_context(closing(connect(self.settings.clickhouse))))
            results = Results(store, documents_of(BlobStore(self.settings.blobs)))
            found = [*results.check(log), *results.unasked(opened, decoder, range(1))]
            assert all(fault.place == store.place for fault in found)
        return [(fault.job_id.split()[0], fault.field) for fault in found]

    def edit(self, change: str) -> None:
        """Change the row of the second job."""
        where = f"WHERE job_id = '{self.job_id}'"
        if self.kind == "postgres":
            self._execute(f"UPDATE extraction.extraction_results SET {change} {where}")
        else:
            self._execute(f"ALTER TABLE extraction_results UPDATE {change} {where}")

    def delete(self) -> None:
        """Delete the row of the second job."""
        table = "extraction.extraction_results" if self.kind == "postgres" else "extraction_results"
        self._execute(f"DELETE FROM {table} WHERE job_id = '{self.job_id}'")

    def double(self, column: str, value: str) -> None:
        """Add a copy of the row of the second job that differs in a column of its key."""
        if self.kind == "postgres":
            self._execute(
                "CREATE TEMPORARY TABLE copy AS SELECT * FROM extraction.extraction_results "
                f"WHERE job_id = '{self.job_id}'; "
                f"UPDATE copy SET {column} = {value}, id = gen_random_uuid(); "
                "INSERT INTO extraction.extraction_results SELECT * FROM copy"
            )
        else:
            self._execute(
                f"INSERT INTO extraction_results SELECT * REPLACE ({value} AS {column}) "
                f"FROM (SELECT * FROM extraction_results WHERE job_id = '{self.job_id}')"
            )

    def _execute(self, statement: str) -> None:
        if self.kind == "postgres":
            with psycopg.connect(self.settings.postgres) as connection:
                connection.execute(statement.encode())
        else:
            with closing(connect(self.settings.clickhouse)) as client:
                client.command(statement, settings={"mutations_sync": 1})


@pytest.fixture(params=[INTERNAL, LAKE], ids=lambda destination: destination.kind)
def written(request: pytest.FixtureRequest, settings: Settings) -> Iterator[Written]:
    """Rows in Postgres, then rows in ClickHouse."""
    if request.param.kind == "clickhouse" and not settings.clickhouse:
        pytest.skip("no ClickHouse: chdb-core is not installed and JOBLEDGER_CLICKHOUSE is not set")
    yield Written(settings, request.param)
    if request.param.kind == "clickhouse":
        with closing(connect(settings.clickhouse)) as client:
            client.command(f"DROP DATABASE {client.database}")


def test_what_was_written_has_no_fault_and_no_value_of_it_can_be_changed_unseen(written: Written) -> None:
    assert written.faults() == []
    changes: list[tuple[str, str, str]] = [
        *((name, f"{name} + 1", f"{name} - 1") for name in NUMBERS if not name.startswith("quality")),
        *((name, "0.001", "0") for name in NUMBERS if name.startswith("quality")),
        *((name, f"concat({name}, '!')", f"substring({name}, 1, length({name}) - 1)") for name in TEXTS),
    ]
    for name, change, back in changes:
        written.edit(f"{name} = {change}")
        assert written.faults() == [(written.job_id, name)], name
        written.edit(f"{name} = {back}")
    assert written.faults() == []
    written.edit('normalized = \'{"name": "another"}\'')
    assert written.faults() == [(written.job_id, "normalized")]


def test_a_deleted_row_is_named(written: Written) -> None:
    written.delete()
    assert written.faults() == [(written.job_id, "row")]


@pytest.mark.parametrize(("column", "value"), [("job_id", "'copy'"), ("org_id", "'globex'")])
def test_a_row_that_nobody_asked_for_is_named(written: Written, column: str, value: str) -> None:
    written.double(column, value)
    assert written.faults() == [("copy" if column == "job_id" else written.job_id, "row")]


def test_a_newer_generation_that_nobody_asked_for_is_named(written: Written) -> None:
    if written.kind == "postgres":
        written.edit("generation = 2")
    else:
        written.double("generation", "2")
    assert written.faults() == [(written.job_id, "row")]
