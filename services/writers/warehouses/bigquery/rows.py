"""Rows of a block as a load job takes them: JSON, one in each line."""

import math
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

import msgspec

from services.writers.warehouses.warehouse import Column, ColumnType, JobKey, JobRows, Value

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# The largest row that a load job takes is 100 MB ("Load jobs" of BigQuery's quotas).
MAX_ROW_BYTES = 100 * 1000 * 1000
POSITION = "starting at position "  # how an error names the first byte of its row


class JobLines(msgspec.Struct, frozen=True):
    """The lines of one job."""

    key: JobKey
    lines: list[bytes]


def lines_of(columns: Sequence[Column], jobs: Sequence[JobRows]) -> tuple[list[JobLines], dict[JobKey, str]]:
    """Return the lines of jobs, and why jobs cannot be lines.

    Each job begins with a line that has no item: it says which generation is written, whether it has rows or not.
    """
    made: list[JobLines] = []
    refused: dict[JobKey, str] = {}
    for job in jobs:
        try:
            made.append(JobLines(job.key, _lines_of(columns, job)))
        except ValueError as error:
            refused[job.key] = str(error)
    return made, refused


def _lines_of(columns: Sequence[Column], job: JobRows) -> list[bytes]:
    mark = {"_org_id": job.key.org_id, "_job_id": job.key.job_id, "_generation": str(job.generation)}
    made = [msgspec.json.encode(mark)]
    for row in job.rows:
        values = {column.name: _value(column, each) for column, each in zip(columns, row, strict=True)}
        made.append(msgspec.json.encode({name: each for name, each in values.items() if each is not None}))
        if len(made[-1]) > MAX_ROW_BYTES:
            raise ValueError(f"an item is larger than the {MAX_ROW_BYTES // 1_000_000} MB that BigQuery takes")
    return made


def _value(column: Column, value: Value) -> Value:
    """Write a value for a column of the table as it is; BigQuery says so where it does not fit.

    Numbers of 64 bits, and those that JSON has not, are texts.
    """
    if value is None:
        return None
    match column.type:
        case ColumnType.TEXT | ColumnType.JSON:
            return value if isinstance(value, str) else msgspec.json.encode(value).decode()
        case ColumnType.INTEGER:
            return str(value)
        case ColumnType.NUMBER if isinstance(value, float) and not math.isfinite(value):
            return {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")
        case ColumnType.TIMESTAMP if isinstance(value, int):
            return _time(column.name, value)
    return value


def _time(name: str, micros: int) -> str:
    try:
        return (EPOCH + timedelta(microseconds=micros)).isoformat(timespec="microseconds")
    except OverflowError:
        raise ValueError(f"{name} is a time outside of the years 1 to 9999") from None


def jobs_at(messages: Iterable[str], jobs: Sequence[JobLines]) -> frozenset[JobKey]:
    """Return whose rows errors name: each by the position of its first byte among all lines."""
    starts: dict[int, JobKey] = {}
    position = 0
    for job in jobs:
        for line in job.lines:
            starts[position] = job.key
            position += len(line) + 1
    named = (message.partition(POSITION)[2].partition(" ")[0].rstrip(".:,") for message in messages)
    return frozenset(starts[int(each)] for each in named if each.isdecimal() and int(each) in starts)


def body_of(jobs: Sequence[JobLines]) -> bytes:
    """Return what is uploaded."""
    return b"".join(line + b"\n" for job in jobs for line in job.lines)


def names_of(columns: Sequence[Column]) -> str:
    """Return columns in their order, for a digest."""
    return "\0".join(f"{column.name} {column.type.value}" for column in columns)
