"""Compares what the log asks for with what the tables hold: sets of rows, then every column."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from projections.postgres.rows import JobKey
from projections.private import Open, in_clear
from projections.verification.expected import (
    Columns,
    Rows,
    deleted_rows,
    delivery_rows,
    is_deleted,
    job_row,
    trace_rows,
    transition_rows,
)
from projections.verification.expected_items import chunk_rows, lines_rows, stats_rows
from projections.verification.faults import Fault
from projections.verification.log import PartitionLog
from schemas.events import JobSubmitted
from schemas.recorded import Recorded

RowsOf = Callable[[list[Recorded], Open], Rows]


def _unless_deleted(rows_of: RowsOf) -> RowsOf:
    return lambda events, opened: {} if is_deleted(events) else rows_of(events, opened)


TABLES_OF_JOBS: dict[str, tuple[tuple[str, ...], RowsOf]] = {
    "jobs": ((), _unless_deleted(lambda events, opened: {(): job_row(events, opened)})),
    "job_transitions": (("seq",), _unless_deleted(lambda events, _: transition_rows(events))),
    "job_trace": (("seq",), _unless_deleted(trace_rows)),
    "extraction_deliveries": (("destination_id", "generation"), _unless_deleted(delivery_rows)),
    "job_logs": (("seq",), _unless_deleted(lines_rows)),
    "job_stats": ((), _unless_deleted(stats_rows)),
    "deleted_jobs": ((), lambda events, _: deleted_rows(events)),
}

CHUNKS = "item_chunks"  # whose rows may outlive their job: another of its chain refers to them
NAMES = {table: names for table, (names, _) in TABLES_OF_JOBS.items()} | {CHUNKS: ("chunk",)}
TABLES = tuple(NAMES)


def expected_rows(log: PartitionLog, table: str, opened: Open = in_clear) -> dict[JobKey, Rows]:
    """Return a table's rows of every job of a partition, private bytes as `opened` shows them."""
    if table == CHUNKS:
        return chunk_rows(log.jobs)
    _, rows_of = TABLES_OF_JOBS[table]
    return {
        key: rows_of(events, opened) for key, events in log.jobs.items() if isinstance(events[0].event, JobSubmitted)
    }


def compare(table: str, expected: dict[JobKey, Rows], found: Iterable[Columns]) -> Iterator[Fault]:
    """Yield what is missing, too much or different. Takes the expected rows apart."""
    names = NAMES[table]
    for row in found:
        org_id, job_id = row["org_id"], row["job_id"]
        key = tuple(row[name] for name in names)
        wanted = expected.get((org_id, job_id), {}).pop(key, None)
        if wanted is None:
            yield Fault(table, org_id, _named(job_id, names, key), "row", "none", "one too many")
            continue
        for name, value in wanted.items():
            if differs(row[name], value):
                yield Fault(table, org_id, _named(job_id, names, key), name, shown(value), shown(row[name]))
    for (org_id, job_id), rows in expected.items():
        for key in rows:
            yield Fault(table, org_id, _named(job_id, names, key), "row", "one", "none")


def _named(job_id: str, names: tuple[str, ...], key: tuple[Any, ...]) -> str:
    return " ".join([job_id, *(f"{name}={value}" for name, value in zip(names, key, strict=True))])


def differs(found: object, wanted: object) -> bool:
    """Whether two values are not the same; NaN is the same as NaN."""
    return found != wanted and not (found != found and wanted != wanted)  # so only NaN is


def shown(value: object) -> str:
    """Return a value as people can read it, cut where it is long."""
    text = value.hex() if isinstance(value, bytes) else str(value)
    return text if len(text) <= 120 else f"{text[:120]}…"
