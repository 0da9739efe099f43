"""Verification of ClickHouse: silent where log and rows agree, and naming table, job and field where they do not."""

from collections.abc import Callable

import msgspec
import pytest
from clickhouse_connect.driver.client import Client

from projections.checkpoints import clickhouse_checkpoints
from projections.verification.clickhouse import verify_clickhouse
from projections.verification.faults import Fault
from schemas.events import JobCompleted, JobSubmitted
from schemas.recorded import Recorded
from services.runtime.raw_log import Records
from services.runtime.registry import decoder
from services.runtime.settings import Settings
from tests.delivery_streams import waive
from tests.event_streams import Play, Stream, records_of
from tests.fakes.records import InMemoryRecords
from tests.integration.clickhouse.projecting import go_on, play, streams_of

Check = Callable[[], list[Fault]]
NAN = float("nan")
LATER = {"mutations_sync": 1}  # a mutation is done when its statement returns


@pytest.fixture
def streams(settings: Settings, clickhouse: Client) -> list[Stream]:
    """What two partitions hold, projected."""
    streams = streams_of(settings)
    play(streams, 7, 300)
    go_on(settings, streams)
    return streams


@pytest.fixture
def check(settings: Settings, streams: list[Stream]) -> Check:
    """Return what verification finds, with the log as it is now."""

    def records(partition: int) -> Records:
        found = [record for stream in streams for record in records_of(stream) if record.partition == partition]
        return InMemoryRecords(found)

    def check() -> list[Fault]:
        return verify_clickhouse(settings, clickhouse_checkpoints(settings.postgres), records, decoder(settings))[1]

    return check


def kept_job(stream: Stream) -> Play:
    """Return a job that was not deleted: of one that was, ClickHouse has no row left to change."""
    return next(job for job in stream.jobs if not job.erasures)


def kept_position(stream: Stream) -> int:
    """Return the position of an event that is not about a deleted job."""
    job_id = kept_job(stream).job_id
    return next(recorded.header.position for recorded in stream.events if recorded.event.job_id == job_id)


def test_log_and_rows_agree_and_the_rows_may_be_behind(streams: list[Stream], check: Check) -> None:
    assert check() == []
    play(streams, 8, 100)
    assert check() == []


def test_an_edited_event_is_named_with_its_field(clickhouse: Client, streams: list[Stream], check: Check) -> None:
    job = kept_job(streams[0])
    where = f"job_id = '{job.job_id}' AND seq = 1"
    clickhouse.command(f"ALTER TABLE job_events UPDATE domain = 'other.example' WHERE {where}", settings=LATER)
    [fault] = check()
    assert (fault.place, fault.org_id, fault.field) == ("job_events", job.org_id, "domain")
    assert fault.job_id.startswith(job.job_id)


@pytest.mark.parametrize("what", ["without", "before", "other"])
def test_a_job_completed_by_anything_but_its_acks_and_waivers_is_a_violation(
    settings: Settings, clickhouse: Client, streams: list[Stream], what: str
) -> None:
    stream = streams[0]
    job = stream.submit(2)
    stream.dispatch(job)
    stream.claim(job)
    stream.extract(job)
    job.status = "running"  # so that the stream does not complete it by itself
    waive(stream, job, "internal")
    if what == "other":
        stream.ack(job, "hook")
    ids = [job.openers["internal"], bytes(16)] if what == "other" else list(job.openers.values())
    stream.of(job, JobCompleted(opened_by=tuple(ids)))
    if what == "before":
        stream.ack(job, "hook")
    go_on(settings, streams)
    assert clickhouse.query("SELECT job_id FROM gate_violations").result_rows == [(job.job_id,)]


def test_a_deleted_event_is_named(clickhouse: Client, streams: list[Stream], check: Check) -> None:
    position = kept_position(streams[1])
    clickhouse.command(f"ALTER TABLE job_events DELETE WHERE partition = 1 AND position = {position}", settings=LATER)
    [fault] = check()
    assert (fault.place, fault.field, fault.expected, fault.found) == ("job_events", "row", "one", "none")
    assert f"partition=1 position={position}" in fault.job_id


def test_a_doubled_event_is_named(clickhouse: Client, streams: list[Stream], check: Check) -> None:
    position = kept_position(streams[0])
    row = f"SELECT * FROM job_events WHERE partition = 0 AND position = {position}"
    clickhouse.command(f"INSERT INTO job_events {row}")
    [fault, *others] = check()
    assert (fault.place, fault.field, fault.found) == ("job_events", "row", "one too many")
    assert f"partition=0 position={position}" in fault.job_id
    assert [(each.place, each.found) for each in others] == [("credit_moves", "2")]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ("DELETE WHERE job_id = '{job_id}'", "row"),
        ("UPDATE attempt = 77 WHERE job_id = '{job_id}'", "attempt"),
        ("UPDATE workflow_id = 'zz' WHERE job_id = '{job_id}'", "workflow_id"),
    ],
)
def test_a_changed_state_is_named(
    clickhouse: Client, streams: list[Stream], check: Check, change: str, field: str
) -> None:
    job = kept_job(streams[1])
    clickhouse.command(f"ALTER TABLE job_states {change.format(job_id=job.job_id)}", settings=LATER)
    [fault] = check()
    assert (fault.place, fault.org_id, fault.job_id, fault.field) == ("job_status", job.org_id, job.job_id, field)


@pytest.mark.parametrize(
    ("change", "field"),
    [("DELETE WHERE kind = 'grant'", "row"), ("UPDATE credits = 77 WHERE kind = 'grant'", "credits")],
)
def test_what_moved_a_balance_and_was_changed_is_named(
    clickhouse: Client, streams: list[Stream], check: Check, change: str, field: str
) -> None:
    clickhouse.command(f"ALTER TABLE credit_moves {change}", settings=LATER)
    assert {(fault.place, fault.org_id, fault.field) for fault in check()} == {("credit_moves", "acme", field)}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("due_at", 2**63 - 1),
        ("due_at", -3_786_825_600_000_000),
        ("quality_completeness", NAN),
        ("domain", "a\0b"),
        ("domain", "o'h\"`\\{}\n"),
    ],
)
def test_what_no_datetime_and_no_text_of_postgres_can_say_is_as_it_should_be(
    settings: Settings, clickhouse: Client, streams: list[Stream], check: Check, field: str, value: object
) -> None:
    before = [len(stream.events) for stream in streams]
    play(streams, 31, 200)
    changed = 0
    for stream, first in zip(streams, before, strict=True):
        for at, recorded in enumerate(stream.events[first:], start=first):
            if field in recorded.event.__struct_fields__:
                event = msgspec.structs.replace(recorded.event, **{field: value})
                stream.events[at] = Recorded(recorded.header, event)
                stream.raws[at] = stream.encoder.encode(stream.events[at])
                changed += 1
    assert changed
    go_on(settings, streams)
    assert check() == []


def test_a_balance_moved_by_nothing_is_named(clickhouse: Client, streams: list[Stream], check: Check) -> None:
    clickhouse.command("INSERT INTO credit_moves (org_id, position, credits) VALUES ('acme', 1, 5)")
    [fault] = check()
    assert (fault.place, fault.org_id, fault.found) == ("credit_moves", "acme", "one too many")


def test_a_balance_moved_twice_by_one_event_is_named(clickhouse: Client, streams: list[Stream], check: Check) -> None:
    clickhouse.command("INSERT INTO credit_moves SELECT * FROM credit_moves WHERE kind = 'grant' LIMIT 1")
    [fault] = check()
    assert (fault.place, fault.org_id, fault.expected, fault.found) == ("credit_moves", "acme", "one", "2")


COPIED = "INSERT INTO stage_positions SELECT {columns} FROM (SELECT * FROM stage_positions WHERE {one})"


@pytest.mark.parametrize(
    ("change", "expected", "found"),
    [
        ("ALTER TABLE stage_positions DELETE WHERE {one}", "one", "none"),
        (COPIED.format(one="{one}", columns="* REPLACE (hour - 3600 AS hour)"), "none", "one too many"),
        (COPIED.format(one="{one}", columns="* REPLACE ('failed' AS stage)"), "none", "one too many"),
    ],
)
def test_a_count_of_a_stage_that_is_not_what_the_log_says_is_named_by_position(
    clickhouse: Client, streams: list[Stream], check: Check, change: str, expected: str, found: str
) -> None:
    clickhouse.command("OPTIMIZE TABLE stage_positions FINAL")
    one = "stage = 'submitted' AND partition = 1 AND org_id = 'acme'"
    clickhouse.command(change.format(one=one), settings=LATER)
    submitted = [
        each.header.position
        for each in streams[1].events
        if isinstance(each.event, JobSubmitted) and each.event.org_id == "acme"
    ]
    faults = check()
    assert {(fault.place, fault.org_id, fault.expected, fault.found) for fault in faults} == {
        ("stage_positions", "acme", expected, found)
    }
    assert [int(fault.job_id.rpartition("=")[2]) for fault in faults] == submitted


def test_a_row_of_a_partition_that_the_ledger_does_not_have_is_named(
    clickhouse: Client, streams: list[Stream], check: Check
) -> None:
    for table in ("job_events", "credit_moves", "stage_positions"):
        clickhouse.command(f"INSERT INTO {table} (partition) VALUES (77)")
    found = {(fault.place, fault.job_id, fault.found) for fault in check() if fault.field == "partition"}
    assert found == {(table, "partition 77", "77") for table in ("job_events", "credit_moves", "stage_positions")}


@pytest.mark.parametrize(
    ("change", "field", "found"),
    [
        ("ALTER TABLE expired_jobs UPDATE expired_at = '2001-02-03 04:05:06.000007' WHERE {job}", "expired_at", "9811"),
        ("ALTER TABLE expired_jobs DELETE WHERE {job}", "row", "none"),
        ("INSERT INTO expired_jobs SELECT * FROM expired_jobs WHERE {job}", "row", "2"),
        ("INSERT INTO expired_jobs VALUES ('acme', 'nobody', 0)", "row", "one too many"),
        ("ALTER TABLE deleted_jobs DELETE WHERE {job}", "row", "none"),
        ("INSERT INTO deleted_jobs SELECT * FROM deleted_jobs WHERE {job}", "row", "2"),
    ],
)
def test_a_changed_note_of_a_job_that_expired_or_was_deleted_is_named(
    clickhouse: Client, streams: list[Stream], check: Check, change: str, field: str, found: str
) -> None:
    table = "expired_jobs" if "expired_jobs" in change else "deleted_jobs"
    job = next(job for job in streams[1].jobs if job.gone == table.removesuffix("_jobs"))
    clickhouse.command(change.format(job=f"job_id = '{job.job_id}'"), settings=LATER)
    [fault] = check()
    assert (fault.place, fault.field) == (table, field)
    assert fault.job_id == (job.job_id if "nobody" not in change else "nobody")
    assert fault.found.startswith(found)


def test_a_state_of_a_job_that_never_was_is_named(clickhouse: Client, streams: list[Stream], check: Check) -> None:
    clickhouse.command("INSERT INTO job_states (org_id, job_id, seq) VALUES ('acme', 'nobody', 1)")
    [fault] = check()
    assert (fault.place, fault.job_id, fault.found) == ("job_status", "nobody", "one too many")
