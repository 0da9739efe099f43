"""Rows of a block as a load job takes them: JSON, one in each line."""

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from services.writers.warehouses.converting import Conversions, time_of
from services.writers.warehouses.warehouse import Column, ColumnType, JobKey, JobRows, Value

# The largest row that a load job takes is 100 MB ("Load jobs" of BigQuery's quotas).
MAX_ROW_BYTES = 100 * 1000 * 1000
ENCODER = msgspec.json.Encoder()
POSITION = "starting at position "  # how an error names the first byte of its row


class JobLines(msgspec.Struct, frozen=True):
    """The lines of one job."""

    key: JobKey
    lines: list[bytes]


def lines_of(columns: Sequence[Column], jobs: Sequence[JobRows]) -> tuple[list[JobLines], dict[JobKey, str]]:
    """Return the lines of jobs, and why jobs cannot be lines.

    Each job begins with a line that has no item: it says which generation is written, whether it has rows or not.
    Numbers of 64 bits, and those that JSON has not, are texts; BigQuery says so where a value does not fit.
    """
    conversions = Conversions(
        columns, {ColumnType.INTEGER: str, ColumnType.NUMBER: _number, ColumnType.TIMESTAMP: _time}
    )
    shape = _shape(tuple(column.name for column in columns))
    made: list[JobLines] = []
    refused: dict[JobKey, str] = {}
    for job in jobs:
        try:
            made.append(JobLines(job.key, [_mark(job), *_lines_of(shape, conversions.of(job.rows))]))
        except ValueError as error:
            refused[job.key] = str(error)
    return made, refused


@lru_cache(maxsize=64)
def _shape(names: tuple[str, ...]) -> type[msgspec.Struct]:
    """Return what is written as an object of these columns, without those that are null."""
    fields = [(f"c{at}", Any, None) for at in range(len(names))]
    rename = {field: name for (field, _, _), name in zip(fields, names, strict=True)}
    return msgspec.defstruct("Line", fields, rename=rename, omit_defaults=True, gc=False)


def _mark(job: JobRows) -> bytes:
    return ENCODER.encode({"_org_id": job.key.org_id, "_job_id": job.key.job_id, "_generation": str(job.generation)})


def _lines_of(shape: type[msgspec.Struct], rows: Sequence[Sequence[Value]]) -> list[bytes]:
    lines = ENCODER.encode_lines([shape(*row) for row in rows]).splitlines()  # no text in JSON has a line's end
    if max(map(len, lines), default=0) > MAX_ROW_BYTES:
        number = next(at for at, line in enumerate(lines) if len(line) > MAX_ROW_BYTES)
        raise ValueError(f"item {number} is larger than the {MAX_ROW_BYTES} bytes of a row of BigQuery")
    return lines


def _number(value: Value) -> Value:
    if isinstance(value, float) and not math.isfinite(value):
        return {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")
    return value


@lru_cache(maxsize=4096)
def _time(value: Value) -> Value:
    return time_of(value).isoformat(timespec="microseconds") if isinstance(value, int) else value


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
