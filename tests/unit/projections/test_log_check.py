"""Verification of the log itself, and its comparison with rows."""

from typing import Any

import msgspec
import pytest

from projections.postgres.item_rows import Chunk, Lines, Stats
from projections.postgres.rows import Deleted, Delivery, Job, Transition, Visit
from projections.verification.compare import NAMES, TABLES, compare, expected_rows
from projections.verification.fires import check_fires
from projections.verification.log import PartitionLog, read_partition
from schemas.avro_of import record_schema
from schemas.codec import Decoder
from schemas.events import EVENT_TYPES, DeliveryAcked, JobCompleted, JobFailed, ScheduleFired
from schemas.values import Destination, FireKind
from services.runtime.reader import Record
from tests.delivery_streams import waive
from tests.event_streams import START, Play, Stream, records_of
from tests.fakes.records import InMemoryRecords
from tests.item_streams import work
from tests.spider_streams import run_spider

COLUMNS: dict[str, type[msgspec.Struct]] = {
    "jobs": Job,
    "job_transitions": Transition,
    "job_trace": Visit,
    "extraction_deliveries": Delivery,
    "deleted_jobs": Deleted,
    "item_chunks": Chunk,
    "job_logs": Lines,
    "job_stats": Stats,
}
INTERNAL = (Destination(destination_id="internal", kind="postgres"),)


def decoder() -> Decoder:
    names = dict(enumerate(EVENT_TYPES, start=1))
    return Decoder(lambda schema_id: record_schema(names[schema_id]))


def check(stream: Stream, records: list[Record] | None = None, position: int | None = None) -> PartitionLog:
    given = records_of(stream) if records is None else records
    return read_partition(lambda _: InMemoryRecords(given), decoder(), 0, position or len(stream.events))


def faults(log: PartitionLog) -> list[str]:
    return [fault.field for fault in log.faults]


def extracted(stream: Stream, destinations: tuple[Destination, ...] = INTERNAL) -> Play:
    job = stream.submit(0, destinations)
    stream.dispatch(job)
    stream.claim(job)
    stream.extract(job)
    return job


def test_a_log_as_the_decider_writes_it_has_no_fault() -> None:
    stream = Stream().open()
    stream.ack(extracted(stream), "internal")
    assert check(stream).faults == []


def test_it_is_read_to_the_asked_for_position_and_no_further() -> None:
    stream = Stream().open()
    extracted(stream)
    log = check(stream, position=5)
    assert (log.events, log.next_offset) == (5, 11)


def test_an_edited_event_breaks_the_chain_of_its_org() -> None:
    stream = Stream().open()
    job = extracted(stream)
    records = records_of(stream)
    edited = records[3].value.replace(b"shop.example", b"shop.exampel", 1)
    records[3] = msgspec.structs.replace(records[3], value=edited)
    [fault] = check(stream, records).faults
    assert (fault.field, fault.org_id, fault.job_id) == ("prev_hash", job.org_id, job.job_id)


def test_a_dropped_event_is_named_by_position_ordinal_and_chain() -> None:
    stream = Stream().open()
    extracted(stream)
    records = records_of(stream)
    del records[4]
    assert faults(check(stream, records)) == ["position", "prev_hash", "seq", "seq", "seq"]


def test_exchanged_events_are_named() -> None:
    stream = Stream().open()
    extracted(stream)
    records = records_of(stream)
    records[4], records[5] = records[5], records[4]
    assert {"position", "prev_hash", "occurred_at", "seq"} <= set(faults(check(stream, records)))


def test_a_missing_last_event_is_named_by_the_read_model_that_has_it() -> None:
    stream = Stream().open()
    extracted(stream)
    assert faults(check(stream, records_of(stream)[:-1])) == ["last position"]


@pytest.mark.parametrize("number", [0, 3, 7])
def test_a_damaged_event_is_missing_where_it_stood(number: int) -> None:
    stream = Stream().open()
    extracted(stream)
    records = records_of(stream)
    records[number] = msgspec.structs.replace(records[number], value=b"no event")
    log = check(stream, records)
    assert faults(log)[0] == ("last position" if number == len(records) - 1 else "position")
    assert log.strangers == 1


def test_records_of_somebody_else_are_counted_and_are_no_fault() -> None:
    stream = Stream().open()
    extracted(stream)
    records = records_of(stream)
    junk = Record("events", 0, 7, "org-0", b"\xff\x00\xfe", [], 0)
    forged = msgspec.structs.replace(records[4], value=b"no event")  # says the position of the event behind it
    log = check(stream, [junk, *records[:4], forged, junk, *records[4:], records[2], junk])
    assert (log.faults, log.strangers) == ([], 3)  # what lies behind the asked-for position is not looked at


def test_a_checkpoint_may_lie_behind_records_of_somebody_else_but_behind_no_event() -> None:
    stream = Stream().open()
    extracted(stream)
    records = records_of(stream)
    junk = [Record("events", 0, offset, "org-0", b"junk", [], 0) for offset in (7, 8, 9)]
    given = [*records[:3], *junk, *(msgspec.structs.replace(each, offset=each.offset + 2) for each in records[3:])]
    for next_offset in (7, 8, 9, 10):
        log = read_partition(lambda _: InMemoryRecords(given), decoder(), 0, 3, next_offset)
        assert (log.events, log.next_offset, log.faults) == (3, next_offset, [])
    log = read_partition(lambda _: InMemoryRecords(given), decoder(), 0, 3, 11)
    assert (log.events, faults(log)) == (3, ["next_offset"])
    alone = read_partition(lambda _: InMemoryRecords(junk), decoder(), 0, 0, 9)
    assert (alone.events, alone.next_offset, alone.strangers, alone.faults) == (0, 9, 2, [])


def test_a_second_end_is_named() -> None:
    stream = Stream().open()
    job = extracted(stream)
    stream.ack(job, "internal")
    stream.end_early(job, 1)
    assert faults(check(stream)) == ["terminal events"]


def test_an_attempt_claimed_twice_is_named() -> None:
    stream = Stream().open()
    job = stream.submit()
    stream.dispatch(job)
    stream.claim(job)
    job.attempt -= 1
    stream.claim(job)
    assert faults(check(stream)) == ["attempts claimed"]


def test_a_job_completed_without_its_ack_is_named() -> None:
    stream = Stream().open()
    stream.of(extracted(stream), JobCompleted(opened_by=(bytes(16),)))
    assert faults(check(stream)) == ["gate"]


def test_a_waiver_opens_the_gate_as_an_ack_does() -> None:
    stream = Stream().open()
    job = extracted(stream)
    waive(stream, job, "internal")
    assert job.status == "completed"
    stream.of(job, DeliveryAcked(destination_id="internal", rows=1))  # too late to be what opened it
    assert faults(check(stream)) == []


def test_a_job_that_names_the_ack_behind_a_waiver_is_named() -> None:
    stream = Stream().open()
    job = extracted(stream)
    job.status = "running"  # so that the stream does not complete it by itself
    waive(stream, job, "internal")
    late = stream.of(job, DeliveryAcked(destination_id="internal", rows=1))
    stream.of(job, JobCompleted(opened_by=(late.header.event_id,)))
    assert faults(check(stream)) == ["opened_by"]


def test_a_job_that_failed_for_a_destination_it_did_not_wait_for_is_named() -> None:
    for place, acked in (("nowhere", False), ("internal", True)):
        stream = Stream().open()
        job = extracted(stream)
        job.status = "running"
        if acked:
            stream.ack(job, "internal")
        stream.of(job, JobFailed(error_type="gate_deadline", destination_id=place))
        assert faults(check(stream)) == ["destination_id"]


def test_a_job_that_names_other_acks_is_named() -> None:
    stream = Stream().open()
    job = extracted(stream)
    job.destinations = ()  # so that the stream does not complete it by itself
    job.status = "running"
    stream.ack(job, "internal")
    stream.of(job, JobCompleted(opened_by=(bytes(16),)))
    assert faults(check(stream)) == ["opened_by"]


def test_a_job_still_open_after_its_last_ack_is_named_once_later_commands_are_decided() -> None:
    stream = Stream().open()
    job = extracted(stream)
    job.status = "running"  # so that the stream does not complete it by itself
    stream.ack(job, "internal")
    assert faults(check(stream)) == []
    stream.play([1])
    assert faults(check(stream)) == ["gate"]


@pytest.fixture
def log() -> PartitionLog:
    """A job that has a row in every table but one, and one that was deleted."""
    stream = Stream().open()
    for _ in range(2):
        job = stream.submit(0, INTERNAL)
        stream.dispatch(job)
        stream.claim(job)
        stream.visit(job)
        stream.extract(job)
    stream.end_early(job, 2)
    stream.delete(job)
    module = stream.submit(4, module=True)
    stream.dispatch(module)
    stream.claim(module)
    for number in (3, 4, 2, 5):
        work(stream, module, number)
    run_spider(stream)
    return check(stream)


@pytest.mark.parametrize("table", TABLES)
def test_missing_and_surplus_rows_are_named(log: PartitionLog, table: str) -> None:
    missing = [fault.expected for fault in compare(table, expected_rows(log, table), [])]
    assert missing
    assert set(missing) == {"one"}
    row: dict[str, Any] = {"org_id": "acme", "job_id": "other", "seq": 1, "destination_id": "x", "generation": 1}
    row["chunk"] = 1
    [surplus] = list(compare(table, {}, [row]))
    assert (surplus.place, surplus.expected) == (table, "none")
    assert "other" in str(surplus)


@pytest.mark.parametrize("table", TABLES)
def test_an_edited_or_doubled_row_is_named_whatever_its_column(log: PartitionLog, table: str) -> None:
    names = NAMES[table]
    rows = [
        dict(zip(("org_id", "job_id", *names), (*job, *key), strict=True)) | columns
        for job, of_job in expected_rows(log, table).items()
        for key, columns in of_job.items()
    ]
    assert list(compare(table, expected_rows(log, table), rows)) == []
    assert rows[0].keys() == set(COLUMNS[table].__struct_fields__)
    for name in sorted(rows[0].keys() - {"org_id", "job_id", *names}):
        [fault] = compare(table, expected_rows(log, table), [rows[0] | {name: "edited"}, *rows[1:]])
        assert (fault.place, fault.job_id.split()[0], fault.field) == (table, rows[0]["job_id"], name)
        assert fault.found == "edited"
    [doubled] = compare(table, expected_rows(log, table), [*rows, rows[-1]])
    assert (doubled.field, doubled.found) == ("row", "one too many")


def fired(stream: Stream, position: int | None = None) -> list[str]:
    return [f"{fault.place} {fault.field}" for fault in check_fires(check(stream, position=position))]


def test_fires_that_come_once_and_in_order_have_no_fault() -> None:
    stream = Stream().open()
    stream.fire(2, START)
    stream.fire(3, START + 1, code="no_route")
    stream.fire(4, START + 2)
    assert fired(stream) == []
    assert fired(stream, len(stream.events) - 1) == []  # the job of the last one lies behind the checkpoint


def test_a_due_time_that_is_fired_twice_is_named() -> None:
    stream = Stream().open()
    stream.fire(2, START)
    stream.fire(3, START)
    assert fired(stream) == ["log due_at"]


def test_jobs_of_a_schedule_that_no_fire_names_and_named_ones_that_are_not_there_are_named() -> None:
    stream = Stream().open()
    stream.submit(schedule_id="sch-1")
    assert fired(stream) == ["log schedule_id"]
    stream = Stream().open()
    fire = ScheduleFired(org_id="acme", schedule_id="sch-1", due_at=START, job_ids=("lost",), how=FireKind.CRON)
    stream.record(fire, 2)
    stream.submit()
    assert fired(stream) == ["log JobSubmitted"]
