"""Compares the log with ClickHouse: every event, what moved a balance, the state of every job, and which are gone.

What ClickHouse holds may be ahead of the checkpoint by an insert of which the bookkeeping does not know yet, never of
the log. So the log is read up to the newest event that ClickHouse holds, and the state of a job is compared at the
event that it says it is at.
"""

from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from clickhouse_connect.driver.client import Client

from projections.clickhouse.keeping import kept_since
from projections.clickhouse.migrate import WITHOUT_COLUMN
from projections.postgres.rows import micros
from projections.verification.compare import differs, shown
from projections.verification.expected import job_row
from projections.verification.faults import Fault
from projections.verification.log import OpenRecords, PartitionLog, read_partition
from projections.verification.marks import marks_of
from projections.verification.stages import compare_stages
from schemas.codec import Decoder
from schemas.events import JobDeleted, JobSubmitted
from schemas.recorded import Recorded
from schemas.storable import storable
from services.ledger.account import movement
from services.ledger.status import error_type_of
from services.runtime.clickhouse import connect
from services.runtime.settings import Settings
from services.runtime.sql import blocks

SQL = blocks(Path(__file__).with_name("clickhouse.sql"))
AS_STORED = {"String": "bytes", "DateTime64": "int"}  # also text that is no UTF-8, and times that no datetime can say
STATUS_FIELDS = ("status", "attempt", "workflow_id", "domain", "error_type", "rule")
UNKNOWN = "unknown"  # the default symbol of every enum
TIMES = ("submitted_at", "claimed_at", "extracted_at", "finished_at")


def verify_clickhouse(
    settings: Settings, checkpoints: dict[int, int], open_records: OpenRecords, decoder: Decoder
) -> tuple[dict[str, int], list[Fault]]:
    """Compare ClickHouse with the log; return how many rows of each table were compared, and what differs."""
    faults: list[Fault] = []
    events = jobs = 0
    since = kept_since(settings)
    with closing(connect(settings.clickhouse)) as client:
        states = {(row["org_id"], row["job_id"]): row for row in _rows(client, SQL["job_status"], {})}
        violations = {
            (row["org_id"].decode(), row["job_id"].decode()): row for row in _rows(client, SQL["gate_violations"], {})
        }
        marks = marks_of(lambda name: _rows(client, SQL[name], {}))
        held = [(str(table), int(at), int(last)) for table, at, last in client.query(SQL["held"]).result_rows]
        for partition, folded in checkpoints.items():
            upto = max([folded, *(last for _, at, last in held if at == partition)])
            log = read_partition(open_records, decoder, partition, upto)
            faults += _compare_events(log, client, upto, folded, since)
            for key in violations.keys() & _begun_before(log, since):
                del violations[key]  # some of its ACKs may be forgotten by now
            faults += _compare_credits(log, client, upto, folded)
            stages = _rows(client, SQL["stage_positions"], {"partition": partition})
            faults += compare_stages(log, stages, upto, folded)
            faults += _compare_states(log, states, folded)
            for mark in marks:
                faults += mark.check(log, folded)
            events += log.events
            jobs += len(log.jobs)
    faults += [
        Fault(table, "", f"partition {partition}", "partition", "one of the ledger", str(partition))
        for table, partition, _ in held
        if partition not in checkpoints
    ]
    faults += map(_violation, violations.values())
    for org_id, job_id in states:
        faults.append(Fault("job_status", org_id.decode(), job_id.decode(), "row", "none", "one too many"))
    for mark in marks:
        faults += mark.left()
    return {"job_events": events, "job_status": jobs} | {mark.table: mark.compared for mark in marks}, faults


def _violation(row: dict[str, Any]) -> Fault:
    org_id, job_id = row["org_id"].decode("utf-8", "replace"), row["job_id"].decode("utf-8", "replace")
    opened, recorded = (sorted(each.hex() for each in row[name]) for name in ("opened_by", "recorded_opened_by"))
    return Fault("clickhouse gate_violations", org_id, job_id, "opened_by", shown(opened), shown(recorded))


def _begun_before(log: PartitionLog, since: int) -> set[tuple[str, str]]:
    return {key for key, events in log.jobs.items() if events[0].header.occurred_at < since}


def _compare_events(log: PartitionLog, client: Client, last: int, folded: int, since: int) -> Iterator[Fault]:
    """Yield rows of job_events that are missing, too much or different. A row knows its place by its position.

    Of a deleted job the rows before its JobDeleted are gone once that is folded; just before, they may be, and so may
    those of before `since`.
    """
    gone: set[int] = set()
    going: set[int] = set()
    for events in log.jobs.values():
        if deletion := _deletion(events):
            before = {each.header.position for each in events if each.header.position < deletion}
            (gone if deletion <= folded else going).update(before)
    expected = {each.header.position: each for each in log.recorded if each.header.position not in gone}
    for row in _rows(client, SQL["job_events"], {"partition": log.partition, "last": last}):
        recorded = expected.pop(row["position"], None)
        key = (row["org_id"].decode("utf-8", "replace"), f"{row['job_id'].decode('utf-8', 'replace')} {_at(log, row)}")
        if recorded is None:
            yield Fault("job_events", *key, "row", "none", "one too many")
            continue
        for name, value in _columns(recorded):
            if differs(row[name], _stored(value)) and not _of_later_version(value, row[name]):
                found = _text(row[name]) if isinstance(value, str) else row[name]
                yield Fault("job_events", *key, name, shown(value), shown(found))
    for position, recorded in expected.items():
        if position in going or recorded.header.occurred_at < since:
            continue
        event = recorded.event
        key = (event.org_id, f"{event.job_id} {_at(log, {'position': position})}")
        yield Fault("job_events", *key, "row", "one", "none")


def _compare_credits(log: PartitionLog, client: Client, last: int, folded: int) -> Iterator[Fault]:
    """Yield what moved a balance and is missing, too much or different; what was deleted goes on to count."""
    expected = {
        each.header.position: {
            "org_id": each.event.org_id,
            "kind": str(moved.kind),
            "credits": moved.credits,
            "occurred_at": each.header.occurred_at,
        }
        for each in log.recorded
        if (moved := movement(each.event))
    }
    for row in _rows(client, SQL["credit_moves"], {"partition": log.partition, "last": last}):
        org_id, at = row["org_id"].decode("utf-8", "replace"), _at(log, row)
        wanted = expected.pop(row["position"], None)
        if wanted is None:
            yield Fault("credit_moves", org_id, at, "row", "none", "one too many")
            continue
        if row["copies"] > 1:
            yield Fault("credit_moves", org_id, at, "row", "one", str(row["copies"]))
        for name, value in wanted.items():
            if value != _text(row[name]):
                yield Fault("credit_moves", org_id, at, name, shown(value), shown(_text(row[name])))
    for position, wanted in expected.items():
        if position <= folded:
            yield Fault("credit_moves", str(wanted["org_id"]), _at(log, {"position": position}), "row", "one", "none")


def _deletion(events: Sequence[Recorded]) -> int:
    """Return the position at which a job was deleted; 0: it was not."""
    return next((each.header.position for each in events if isinstance(each.event, JobDeleted)), 0)


def _at(log: PartitionLog, row: dict[str, Any]) -> str:
    return f"partition={log.partition} position={row['position']}"


def _columns(recorded: Recorded) -> Iterator[tuple[str, object]]:
    """Yield the columns of an event with what it says there."""
    for part in (recorded.header, recorded.event):
        for name in part.__struct_fields__:
            if name not in WITHOUT_COLUMN:
                yield name, getattr(part, name)


def _of_later_version(value: object, found: object) -> bool:
    """Whether it is a symbol that a later version added to an enum: this one reads it as `unknown`."""
    return isinstance(value, StrEnum) and value == UNKNOWN and _text(found) not in set(type(value))


def _stored(value: Any) -> object:
    """Return a value as ClickHouse shows it: times in microseconds, text in bytes."""
    match value:
        case str():
            return value.encode()
        case tuple():
            return [_stored(each) for each in value]
        case _:
            return value


def _compare_states(
    log: PartitionLog, states: dict[tuple[bytes, bytes], dict[str, Any]], folded: int
) -> Iterator[Fault]:
    """Yield jobs whose state is not what the log says. Takes the jobs' rows out of the states."""
    for (org_id, job_id), events in log.jobs.items():
        row = states.pop((org_id.encode(), job_id.encode()), None)
        deletion = _deletion(events)
        if row is None and deletion:
            continue
        if 0 < deletion <= folded:
            yield Fault("job_status", org_id, job_id, "row", "none: the job was deleted", "one")
            continue
        least = sum(1 for each in events if each.header.position <= folded)
        if row is None:
            if least:
                yield Fault("job_status", org_id, job_id, "row", "one", "none")
            continue
        if not max(least, 1) <= row["seq"] <= len(events):
            yield Fault("job_status", org_id, job_id, "seq", f"{least} to {len(events)}", str(row["seq"]))
        elif isinstance(events[0].event, JobSubmitted):
            wanted = job_row(events[: row["seq"]])
            wanted["error_type"] = error_type_of(str(wanted["status"]), wanted["error_type"])
            for name in STATUS_FIELDS:
                found = storable(_text(row[name]))  # as in Postgres
                if (wanted[name] or "") != found and wanted[name] != found:
                    yield Fault("job_status", org_id, job_id, name, shown(wanted[name]), shown(found))
            for name in TIMES:
                if wanted[name] != row[name]:
                    yield Fault("job_status", org_id, job_id, name, shown(wanted[name]), shown(row[name]))


def _text(value: object) -> object:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def _rows(client: Client, query: str, parameters: dict[str, object]) -> Iterator[dict[str, Any]]:
    with client.query_rows_stream(query, parameters=parameters, query_formats=AS_STORED, tz_mode="aware") as stream:
        names = stream.source.column_names
        for row in stream:
            yield {name: _plain(value) for name, value in zip(names, row, strict=True)}


def _plain(value: Any) -> Any:
    """Return a value as `_stored` makes it."""
    if isinstance(value, datetime):
        return micros(value)
    if isinstance(value, list):
        return [tuple(each.values()) if isinstance(each, dict) else each for each in value]
    return value
