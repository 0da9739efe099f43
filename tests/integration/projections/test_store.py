"""The store on a real Postgres: batches whole or absent, one writer, rows that cannot be bad."""

import os
import random
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from projections.migrate import SCHEMA, migrate
from projections.postgres.batch import Batch, batch_of
from projections.postgres.item_rows import Chunk, Lines, Stats
from projections.postgres.rows import Checkpoint, Delivery, Job, Transition, Visit
from projections.postgres.store import SQL, CheckpointMoved, RowsMoved, Store
from projections.verification.compare import TABLES, compare, expected_rows
from projections.verification.log import PartitionLog
from projections.verification.snapshot import snapshot_of
from schemas.credit_events import CreditsGranted
from services.runtime.settings import Settings
from services.runtime.shredding.vault import Vault
from tests.event_streams import START, Stream, entries_of
from tests.integration.projections.bad_rows import BAD, WHOSE
from tests.integration.projections.conftest import Connection, Project
from tests.item_streams import work
from tests.spider_streams import run_spider

DEADLINE_SECONDS = 30.0


def stream_of(length: int, seed: int = 7) -> Stream:
    numbers = random.Random(seed)
    return Stream(modules=True).open().play(numbers.randrange(16 * 40) for _ in range(length))


def differences(settings: Settings, stream: Stream) -> list[str]:
    log = PartitionLog(stream.partition)
    for recorded in stream.events:
        if recorded.event.job_id:
            log.jobs.setdefault((recorded.event.org_id, recorded.event.job_id), []).append(recorded)
    with snapshot_of(settings.postgres) as snapshot:
        return [
            str(fault)
            for table in TABLES
            for fault in compare(table, expected_rows(log, table), snapshot.rows(table, stream.partition))
        ]


def batch(store: Store, stream: Stream, start: int, end: int | None = None) -> Batch:
    return batch_of(store.checkpoints(range(4)), entries_of(stream)[start:end])


def count(database: Connection, table: str) -> Any:
    row = database.execute(f"SELECT count(*) FROM {table}".encode()).fetchone()
    assert row is not None
    return row[0]


def test_every_row_and_column_is_what_the_events_say(settings: Settings, project: Project) -> None:
    stream = stream_of(1500)
    project(entries_of(stream))
    assert differences(settings, stream) == []


def test_the_structs_and_the_tables_have_the_same_columns(database: Connection) -> None:
    tables = {"jobs": Job, "job_transitions": Transition, "job_trace": Visit, "extraction_deliveries": Delivery}
    tables |= {"item_chunks": Chunk, "job_logs": Lines, "job_stats": Stats}
    for name, row in {**tables, "checkpoints": Checkpoint}.items():
        columns = database.execute(
            "SELECT column_name FROM information_schema.columns WHERE table_schema = %s AND table_name = %s",
            (SCHEMA, name),
        ).fetchall()
        assert {column for (column,) in columns} == set(row.__struct_fields__)


def test_what_many_orgs_have_and_deleted_is_written_by_one_statement_each_and_is_what_the_events_say(
    settings: Settings, store: Store, database: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[Any] = []
    execute = store._connection.execute

    def heard(query: Any, *arguments: Any, **options: Any) -> Any:
        said.append(query)
        return execute(query, *arguments, **options)

    monkeypatch.setattr(store._connection, "execute", heard)
    stream = Stream(orgs=tuple(f"org-{number}" for number in range(30)), modules=True).open().play(range(200))
    store.write(batch(store, stream, 0))
    assert count(database, "org_usage") == 30
    assert count(database, "deleted_jobs") > 1
    assert [said.count(SQL[name]) for name in ("upsert_usage", "upsert_deleted")] == [1, 1]
    assert differences(settings, stream) == []


def test_a_session_that_dies_before_its_commit_has_written_nothing(
    settings: Settings, store: Store, database: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = stream_of(100)
    entries = batch(store, stream, 0)
    move = store._move

    def move_and_die(batch: Batch) -> None:
        move(batch)
        database.execute("SELECT pg_terminate_backend(%s)", (store._connection.info.backend_pid,))

    monkeypatch.setattr(store, "_move", move_and_die)
    with pytest.raises(psycopg.OperationalError):
        store.write(entries)
    assert count(database, "jobs") == 0
    with closing(Store(settings.postgres, SCHEMA, Vault(settings.credentials_key))) as next_store:
        assert next_store.lock()
        next_store.write(batch(next_store, stream, 0))
    assert differences(settings, stream) == []


def test_a_batch_that_was_committed_unnoticed_is_not_written_again(
    settings: Settings, store: Store, database: Connection
) -> None:
    stream = stream_of(100)
    store.write(batch(store, stream, 0, 60))
    before = count(database, "job_transitions")
    assert batch(store, stream, 0, 60).after == {}
    store.write(batch(store, stream, 0, 60))
    assert count(database, "job_transitions") == before
    store.write(batch(store, stream, 0))
    assert differences(settings, stream) == []


def test_only_one_process_writes_and_the_next_one_takes_over(settings: Settings, store: Store) -> None:
    with closing(Store(settings.postgres, SCHEMA, Vault(settings.credentials_key))) as standby:
        assert not standby.lock()
        store.close()
        deadline = time.monotonic() + DEADLINE_SECONDS
        while not standby.lock():  # the server ends a session shortly after its connection was closed
            assert time.monotonic() < deadline


def test_who_starts_from_an_old_checkpoint_is_refused(settings: Settings, store: Store, database: Connection) -> None:
    stream = stream_of(100)
    stale = batch(store, stream, 0)
    store.write(batch(store, stream, 0, 10))
    with closing(Store(settings.postgres, SCHEMA, Vault(settings.credentials_key))) as intruder:
        nothing_new = Batch((), stale.before, stale.after)
        with pytest.raises(CheckpointMoved):
            intruder.write(nothing_new)
    store.write(batch(store, stream, 0))
    assert differences(settings, stream) == []


def test_a_row_that_changes_between_load_and_write_stops_the_batch(
    store: Store, database: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = Stream().open()
    job = stream.submit()
    store.write(batch(store, stream, 0))
    stream.dispatch(job)
    load = store._load

    def load_then_meddle(*keys: Any) -> Any:
        current = load(*keys)
        database.execute("UPDATE jobs SET seq = 9")
        return current

    monkeypatch.setattr(store, "_load", load_then_meddle)
    with pytest.raises(RowsMoved):
        store.write(batch(store, stream, 0))


def test_migrating_again_changes_nothing(settings: Settings, project: Project, database: Connection) -> None:
    project(entries_of(stream_of(20)))
    migrate(settings.postgres)
    assert count(database, "jobs") > 0


def test_a_bad_row_of_any_table_is_impossible(project: Project, database: Connection) -> None:
    stream = Stream().open()
    job, deleted = stream.submit(0), stream.submit(0)
    for each in (job, deleted):
        stream.dispatch(each)
        stream.claim(each)
        stream.visit(each)
        stream.extract(each)
        stream.ack(each, "internal")
    stream.delete(deleted)
    module = stream.submit(4, module=True)
    stream.dispatch(module)
    stream.claim(module)
    for number in (3, 4, 2):
        work(stream, module, number)
    run_spider(stream)
    stream.fire(2, START)
    stream.record(CreditsGranted(org_id=job.org_id, credits=7), 2)
    project(entries_of(stream))
    for table, changes in BAD.items():
        for change, constraint in changes:
            with pytest.raises(psycopg.errors.CheckViolation) as refused:
                database.execute(f"UPDATE {table} SET {change}{WHOSE.get(table, '')}".encode())
            assert refused.value.diag.constraint_name == constraint, (table, change)
    known = database.execute(
        "SELECT conrelid::regclass::text, conname FROM pg_constraint WHERE contype = 'c' "
        "AND connamespace = current_schema()::regnamespace"
    ).fetchall()
    assert set(known) == {(table, constraint) for table, changes in BAD.items() for _, constraint in changes}


def test_two_writers_of_the_same_orgs_never_wait_for_each_other_in_a_ring(settings: Settings) -> None:
    stream = Stream(orgs=tuple(f"org-{number}" for number in range(40)), modules=True).open()
    chosen = random.Random(3)
    stream.play(chosen.randrange(16 * 40) for _ in range(600))
    entries, refused = entries_of(stream), []

    def write(seed: int) -> None:
        sizes = random.Random(seed)
        with closing(Store(settings.postgres, SCHEMA, Vault(""))) as store:  # without the lock, as one that lost it
            while (at := store.checkpoints([0])[0].position) < len(entries):
                some = batch_of(store.checkpoints(range(4)), entries[: at + sizes.randrange(20, 60)])
                try:
                    store.write(some)
                except (CheckpointMoved, RowsMoved, psycopg.errors.UniqueViolation) as error:
                    refused.append(type(error))

    with ThreadPoolExecutor(2) as pool:
        for writing in [pool.submit(write, seed) for seed in range(2)]:
            writing.result(DEADLINE_SECONDS * 4)  # a DeadlockDetected would be raised here
    assert refused, "they never met"
    assert differences(settings, stream) == []


OLD = "c3768599"  # the last commit whose newest migration is 009
FOLD_BY_OLD_CODE = """
import sys
from contextlib import closing
from projections.migrate import SCHEMA, migrate
from projections.postgres.store import Store
from services.runtime.shredding.vault import Vault
from projections.postgres.batch import batch_of
from tests.event_streams import Stream, entries_of
import projections.migrate

assert len(list(projections.migrate.MIGRATIONS.glob("*.sql"))) == 9, projections.migrate.MIGRATIONS
stream = Stream().open().play(range(0, 16 * 40, 3))
migrate(sys.argv[1])
with closing(Store(sys.argv[1], SCHEMA, Vault(""))) as store:
    assert store.lock()
    for _ in range(2):
        store.write(batch_of(store.checkpoints(range(4)), entries_of(stream)))
print(sum(1 for each in stream.events if each.event.job_id))
"""


def test_code_of_an_older_migration_projects_into_the_newest_schema(
    settings: Settings, database: Connection, tmp_path: Path
) -> None:
    root = Path(__file__).parents[3]
    packages = ["schemas", "services", "projections", "api", "tests"]
    old = subprocess.run(["git", "archive", OLD, *packages], cwd=root, capture_output=True, check=False)
    if old.returncode:
        pytest.skip(f"the history of the repository is not here, so neither is the code of {OLD}")
    subprocess.run(["tar", "-x", "-C", str(tmp_path)], input=old.stdout, check=True)
    done = subprocess.run(
        [sys.executable, "-P", "-c", FOLD_BY_OLD_CODE, settings.postgres],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    deleted = count(database, "deleted_jobs")
    assert count(database, "jobs") > 0
    assert 0 < count(database, "job_transitions") <= int(done.stdout)
    assert deleted or count(database, "job_transitions") == int(done.stdout)


def test_the_gate_is_told_by_the_deliveries_alone(project: Project, database: Connection) -> None:
    stream = Stream().open()
    job = stream.submit(2)
    stream.dispatch(job)
    stream.claim(job)
    stream.extract(job)
    stream.ack(job, "hook")
    project(entries_of(stream))
    gate = "SELECT expected, acked, pending, opened_by, opened_at IS NULL FROM gate"
    assert database.execute(gate).fetchall() == [(2, 1, ["internal"], [], True)]
    stream.ack(job, "internal")
    project(entries_of(stream))
    (expected, acked, pending, opened_by, still_closed), *_ = database.execute(gate).fetchall()
    assert (expected, acked, pending, still_closed) == (2, 2, [], False)
    assert len(opened_by) == 2  # type: ignore[arg-type]
    assert database.execute("SELECT * FROM gate_violations").fetchall() == []


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ("DELETE FROM extraction_deliveries", "completed with ACKs missing"),
        ("UPDATE extraction_deliveries SET ack_event_id = gen_random_uuid()", "other ACKs than those"),
        ("UPDATE extraction_deliveries SET ack_seq = ack_seq + 9", "completed before its last ACK"),
        (
            "UPDATE jobs SET status = 'extraction_done', finished_at = NULL, finished_seq = NULL, opened_by = NULL",
            "not completed after its last ACK",
        ),
    ],
)
def test_a_recorded_end_that_the_acks_do_not_bear_out_is_a_violation(
    change: str, fault: str, project: Project, database: Connection
) -> None:
    stream = Stream().open()
    job = stream.submit(0)
    stream.dispatch(job)
    stream.claim(job)
    stream.extract(job)
    stream.ack(job, "internal")
    stream.play([1])
    project(entries_of(stream))
    assert database.execute("SELECT fault FROM gate_violations").fetchall() == []
    database.execute("ALTER TABLE extraction_deliveries DROP CONSTRAINT ack_is_an_event_of_the_job")  # by a meddler
    database.execute(change.encode())
    [(found,)] = database.execute("SELECT fault FROM gate_violations").fetchall()
    assert fault in str(found)


def test_a_gate_just_opened_is_no_violation_while_its_completion_is_not_folded_yet(
    store: Store, database: Connection
) -> None:
    stream = Stream().open()
    job = stream.submit(0)
    stream.dispatch(job)
    stream.claim(job)
    stream.extract(job)
    stream.cause += 1
    stream.ack(job, "internal")
    store.write(batch(store, stream, 0, len(stream.events) - 1))
    assert database.execute("SELECT status FROM jobs").fetchall() == [("extraction_done",)]
    assert database.execute("SELECT fault FROM gate_violations").fetchall() == []


def test_lists_are_served_from_their_index(project: Project, database: Connection) -> None:
    project(entries_of(stream_of(1500)))
    database.execute("ANALYZE jobs")
    for way in ("seqscan", "bitmapscan", "sort"):  # the table is small: show what a large one is read by
        database.execute(f"SET enable_{way} TO off".encode())
    page = "EXPLAIN SELECT * FROM jobs WHERE org_id = 'acme' {} AND (submitted_at, job_id) < (now(), 'x') "
    page += "ORDER BY submitted_at DESC, job_id DESC LIMIT 10"
    for condition, index in (("", "jobs_newest_first"), ("AND status = 'failed'", "jobs_by_status_newest_first")):
        plan = "\n".join(str(line) for (line,) in database.execute(page.format(condition).encode()).fetchall())
        assert f"Index Scan using {index}" in plan
        assert "Sort" not in plan
