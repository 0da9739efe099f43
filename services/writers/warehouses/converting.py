"""Rows as a warehouse takes them: values of some types are written in another way, all others as they are."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from services.writers.warehouses.warehouse import Column, ColumnType, Value

Convert = Callable[[Value], Value]  # raises ValueError, without a name, where there is no other way to write a value
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Conversions:
    """What is done to the rows of a block."""

    def __init__(self, columns: Sequence[Column], by_type: Mapping[ColumnType, Convert]) -> None:
        self._columns = columns
        self._places = [(at, by_type[each.type]) for at, each in enumerate(columns) if each.type in by_type]

    def of(self, rows: Sequence[Sequence[Value]]) -> list[Sequence[Value]]:
        """Return rows; ValueError names the column of which a value cannot be written."""
        return list(zip(*self.columns(rows), strict=True)) if rows and self._places else list(rows)

    def columns(self, rows: Sequence[Sequence[Value]]) -> list[Sequence[Value]]:
        """Return the values of rows by column; raises as `of`. There is at least one row."""
        columns: list[Sequence[Value]] = list(zip(*rows, strict=True))
        at = 0
        try:
            for at, convert in self._places:
                columns[at] = [None if value is None else convert(value) for value in columns[at]]
        except ValueError as error:
            raise ValueError(f"{self._columns[at].name} {error}") from None
        return columns


def time_of(micros: int, first_year: int = 1, last_year: int = 9999) -> datetime:
    """Return a time; ValueError for one that is in no year between these."""
    try:
        when = EPOCH + timedelta(microseconds=micros)
    except OverflowError:
        when = None
    if when is None or not first_year <= when.year <= last_year:
        raise ValueError(f"is a time outside of the years {first_year} to {last_year}")
    return when
