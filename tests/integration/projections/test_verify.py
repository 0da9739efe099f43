"""Verification catches one row deleted, edited or doubled by hand, in any table, and names it."""

import json
from collections.abc import Callable
from contextlib import closing

import pytest
from typer.testing import CliRunner

from projections.migrate import SCHEMA
from projections.postgres.batch import batch_of
from projections.postgres.store import Store
from projections.verification.bodies import Bodies, Body, Look, bodies_of
from projections.verification.faults import Fault, Report
from projections.verification.snapshot import snapshot_of
from projections.verify import verify_snapshot
from schemas.avro_of import record_schema
from schemas.codec import Decoder
from schemas.credit_events import CreditsGranted
from schemas.events import EVENT_TYPES
from services.cli import verify as command
from services.runtime.reader import Record
from services.runtime.settings import Settings
from services.runtime.shredding.vault import Vault
from tests.event_streams import START, Stream, entries_of, records_of
from tests.fakes.records import InMemoryRecords
from tests.integration.projections.conftest import Connection
from tests.item_streams import work
from tests.spider_streams import run_spider

Verify = Callable[[], Report]


def as_said(stream: Stream) -> Look:
    """Return a blob store that has what the events of a stream say."""
    named = {each.key: Body(each.size) for each in bodies_of(stream.events)}
    return lambda keys: {key: named[key] for key in keys}


def worked() -> Stream:
    """One job of every kind of row: two destinations, a retry, a failed node, a failed delivery; and one that waits."""
    stream = Stream().open()
    job = stream.submit(2)
    stream.dispatch(job)
    stream.claim(job)
    stream.visit(job, 3)
    stream.advance(job, 7)
    stream.dispatch(job)
    stream.claim(job)
    stream.visit(job, 2)
    stream.extract(job)
    stream.advance(job, 2)
    stream.ack(job, "hook")
    stream.ack(job, "internal")
    waiting = stream.submit(1)
    stream.dispatch(waiting)
    module = stream.submit(4, module=True)
    stream.dispatch(module)
    stream.claim(module)
    for number in (3, 4, 2):
        work(stream, module, number)
    run_spider(stream)
    stream.play([1])
    stream.fire(2, START, code="no_route")
    stream.fire(3, START + 1000)
    stream.record(CreditsGranted(org_id="globex", credits=7), 2)
    return stream


@pytest.fixture
def verify(settings: Settings, database: Connection) -> Verify:
    """Project a worked stream and return what verifies it."""
    stream = worked()
    with closing(Store(settings.postgres, SCHEMA, Vault(settings.credentials_key))) as store:
        store.write(batch_of(store.checkpoints(range(settings.partitions)), entries_of(stream)))
    names = dict(enumerate(EVENT_TYPES, start=1))
    decoder = Decoder(lambda schema_id: record_schema(names[schema_id]))

    def records(partition: int) -> list[Record]:
        return records_of(stream) if partition == stream.partition else []

    def verify() -> Report:
        with snapshot_of(settings.postgres) as snapshot:
            partitions = range(settings.partitions)
            opened = lambda partition: InMemoryRecords(records(partition))  # noqa: E731
            return verify_snapshot(snapshot, opened, decoder, partitions, (), Bodies(as_said(stream)), Vault(""))

    return verify


def named(report: Report) -> set[tuple[str, str]]:
    return {(fault.place, fault.field) for fault in report.faults}


def test_a_true_read_model_has_no_fault(verify: Verify) -> None:
    report = verify()
    assert report.faults == []
    assert report.jobs == 5
    assert report.rows["jobs"] == 5
    assert report.rows["schedule_fires"] == 2
    assert report.rows["job_transitions"] == sum(1 for each in worked().events if each.event.job_id)


CREDITS = ("org_usage", "credit_transactions")
OF_JOBS = ("jobs", "job_transitions", "job_trace", "extraction_deliveries", "item_chunks", "job_logs", "job_stats")
TABLES = (*OF_JOBS, "schedule_fires", *CREDITS, "checkpoints")


@pytest.mark.parametrize("table", TABLES)
def test_a_deleted_row_is_named(table: str, verify: Verify, database: Connection) -> None:
    key = "partition = 0" if table == "checkpoints" else "true"
    one = f"DELETE FROM {table} WHERE ctid = (SELECT ctid FROM {table} WHERE {key} ORDER BY ctid DESC LIMIT 1)"
    database.execute(one.encode())
    report = verify()
    assert (table, "row") in named(report)
    assert not report.ok


@pytest.mark.parametrize(
    ("table", "change"),
    [
        ("jobs", "job_id = job_id || '-copy'"),
        ("jobs", "org_id = 'globex-copy'"),
        ("job_transitions", "seq = seq + 100"),
        ("job_trace", "seq = seq + 100"),
        ("extraction_deliveries", "generation = 2"),
        ("item_chunks", "first_item = 1000000, next_item = 1000001, errors = 0, chunk = 1000"),
        ("job_logs", "position = position + 1000"),
        ("job_stats", "job_id = job_id || '-copy'"),
        ("schedule_fires", "org_id = 'globex-copy'"),
        ("org_usage", "org_id = 'globex-copy'"),
        ("credit_transactions", "position = 1000"),
        ("checkpoints", "partition = 99"),
    ],
)
def test_a_doubled_row_is_named(table: str, change: str, verify: Verify, database: Connection) -> None:
    column = change.split(" = ")[0]
    double = f"""
        CREATE TEMPORARY TABLE copy AS SELECT * FROM {table} LIMIT 1;
        UPDATE copy SET {change};
        INSERT INTO {table} SELECT * FROM copy
    """
    database.execute(double.encode())
    assert column
    assert (table, "row") in named(verify())


def columns() -> list[tuple[str, str]]:
    from projections.postgres.item_rows import Chunk, Lines, Stats
    from projections.postgres.rows import Checkpoint, Delivery, Fire, Job, Transition, Visit
    from projections.postgres.usage import Transaction, Usage

    rows = zip(
        TABLES,
        (Job, Transition, Visit, Delivery, Chunk, Lines, Stats, Fire, Usage, Transaction, Checkpoint),
        strict=True,
    )
    return [(table, name) for table, row in rows for name in row.__struct_fields__]


EDITS = {
    "integer": "{0} = coalesce({0}, 0) + 100",
    "bigint": "{0} = coalesce({0}, 0) + 100",
    "text": "{0} = coalesce({0}, '') || '!'",
    "timestamp with time zone": "{0} = coalesce({0}, timestamptz 'epoch') + interval '1 microsecond'",
    "double precision": "{0} = coalesce({0}, 0) + 0.001",
    "bytea": "{0} = {0} || '\\x00'",
    "uuid": "{0} = gen_random_uuid()",
    "jsonb": "{0} = '[1]'",
    "boolean": "{0} = NOT {0}",
    "ARRAY": "{0} = array[gen_random_uuid()]",
}


def test_any_column_of_any_row_edited_is_named(verify: Verify, database: Connection) -> None:
    keys = {"org_id", "job_id", "seq", "destination_id", "generation", "partition", "position", "chunk"}
    types = {
        (table, name): kind
        for table, name, kind in database.execute(
            "SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = %s",
            (SCHEMA,),
        ).fetchall()
    }
    for (name,) in database.execute(
        "SELECT format('ALTER TABLE %%s DROP CONSTRAINT %%I', conrelid::regclass, conname) FROM pg_constraint "
        "WHERE contype = 'c' AND connamespace = %s::regnamespace",
        (SCHEMA,),
    ).fetchall():
        database.execute(str(name).encode())  # a meddler who can drop constraints
    for table, column in columns():
        edit = "levels = levels || 7" if column == "levels" else EDITS[str(types[(table, column)])].format(column)
        where = "partition = 0" if table == "checkpoints" else f"ctid = (SELECT min(ctid) FROM {table})"
        database.execute(f"CREATE TABLE IF NOT EXISTS kept_{table} AS SELECT * FROM {table}".encode())
        database.execute(f"UPDATE {table} SET {edit} WHERE {where}".encode())
        found = named(verify())
        if table == "checkpoints" and column == "position":
            assert ("log", "last position") in found
        else:
            assert {(table, column), (table, "row")} & found, (table, column, found)
        if column not in keys and table != "checkpoints":
            assert (table, column) in found
        database.execute(f"TRUNCATE {table}; INSERT INTO {table} SELECT * FROM kept_{table}".encode())
    assert verify().ok


def test_a_violated_gate_is_named(verify: Verify, database: Connection) -> None:
    database.execute("UPDATE extraction_deliveries SET ack_event_id = gen_random_uuid() WHERE destination_id = 'hook'")
    assert {("gate_violations", "row"), ("extraction_deliveries", "ack_event_id")} <= named(verify())


def test_the_command_exits_by_what_it_finds_and_prints_both_ways(monkeypatch: pytest.MonkeyPatch) -> None:
    fault = Fault("jobs", "acme", "j1", "status", "pending", "running")
    run = CliRunner().invoke
    monkeypatch.setattr("services.localstack.attach.attached_settings", lambda _: None)
    for faults, code in (([], 0), ([fault], 1)):
        report = Report({0: 7}, 7, 1, {"jobs": 1}, faults)
        monkeypatch.setattr("projections.verify.verify", lambda *_, report=report: report)
        plain, as_json = run(command.app, []), run(command.app, ["--json"])
        assert (plain.exit_code, as_json.exit_code) == (code, code)
        assert json.loads(as_json.stdout)["ok"] is (code == 0)
        assert ("`jobledger rebuild postgres`" in plain.stdout) is (code == 1)
    assert "jobs acme j1: status: expected pending, found running" in plain.stdout
