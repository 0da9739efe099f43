"""Rows as ClickHouse takes them: a JSON array in each line."""

import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import msgspec

from services.writers.warehouses.warehouse import Column, ColumnType, Value

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FIRST_YEAR, LAST_YEAR = 1900, 2299  # of DateTime64, which takes other ones without a word
INT64 = 1 << 63  # from where on Int64 begins again at its other end


def row_of(columns: Sequence[Column], row: Sequence[Value]) -> bytes:
    """Return the line of a row, or raise ValueError where ClickHouse would read something else than it says."""
    return msgspec.json.encode([_value(column, each) for column, each in zip(columns, row, strict=True)])


def _value(column: Column, value: Value) -> Value:
    if value is None:
        return None
    match column.type:
        case ColumnType.INTEGER if isinstance(value, int) and not -INT64 <= value < INT64:
            raise ValueError(f"{column.name} has an integer of more than 64 bits")
        case ColumnType.NUMBER if isinstance(value, float) and not math.isfinite(value):
            return str(value)
        case ColumnType.TIMESTAMP if isinstance(value, int):
            return _time(column.name, value)
    return value


def _time(name: str, micros: int) -> str:
    try:
        when = EPOCH + timedelta(microseconds=micros)
    except OverflowError:
        when = datetime.min.replace(tzinfo=UTC)
    if not FIRST_YEAR <= when.year <= LAST_YEAR:
        raise ValueError(f"{name} is a time outside of the years {FIRST_YEAR} to {LAST_YEAR}")
    return when.strftime("%Y-%m-%d %H:%M:%S.%f")
