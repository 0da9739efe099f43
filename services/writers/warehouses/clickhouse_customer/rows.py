"""Rows as ClickHouse takes them: a JSON array in each line."""

import math
from collections.abc import Sequence
from functools import lru_cache

import msgspec

from services.writers.warehouses.converting import Conversions, time_of
from services.writers.warehouses.warehouse import Column, ColumnType, Value

FIRST_YEAR, LAST_YEAR = 1900, 2299  # of DateTime64, which takes other ones without a word
ENCODER = msgspec.json.Encoder()
INT64 = 1 << 63  # from where on Int64 begins again at its other end


def rows_of(columns: Sequence[Column]) -> Conversions:
    """Return what makes rows of a block such that ClickHouse reads what they say."""
    return Conversions(columns, {ColumnType.INTEGER: _integer, ColumnType.NUMBER: _number, ColumnType.TIMESTAMP: _time})


def lines_of(rows: Sequence[Sequence[Value]], conversions: Conversions) -> bytes:
    """Return the lines of rows, or raise ValueError where ClickHouse would read something else than they say."""
    return ENCODER.encode_lines(conversions.of(rows))


def _integer(value: Value) -> Value:
    if isinstance(value, int) and not -INT64 <= value < INT64:
        raise ValueError("has an integer of more than 64 bits")
    return value


def _number(value: Value) -> Value:
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


@lru_cache(maxsize=4096)
def _time(value: Value) -> Value:
    if not isinstance(value, int):
        return value
    when = time_of(value, FIRST_YEAR, LAST_YEAR)
    return when.strftime("%Y-%m-%d %H:%M:%S.%f")
