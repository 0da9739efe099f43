"""Which type the column of a field is made with, and what its column takes of a value: what does not fit is NULL.

Nothing is lost by that: the column `_data` has the whole item.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import Any, assert_never

from services.writers.warehouses.items import Item
from services.writers.warehouses.warehouse import Column, ColumnType, Value

INT64 = 1 << 63


def new_columns(items: Iterable[Item], there: Mapping[str, object], room: int) -> list[Column]:
    """Return columns for fields that have none yet, in the order in which they come, at most so many.

    The first value that is not null says of which type: an integer is a number where a fraction comes in these items.
    """
    found: dict[str, ColumnType] = {}
    absent: dict[tuple[str, ...], list[str]] = {}  # by columns of items: those that are not there
    for item in items:
        missing = absent.get(item.columns)
        if missing is None:
            missing = absent[item.columns] = [name for name in item.columns if name not in there]
        for name in missing:
            known = found.get(name)
            if known is None and len(found) < room:
                kind = type_of(item.fields[name])
                if kind:
                    found[name] = kind
            elif known is ColumnType.INTEGER and type_of(item.fields[name]) is ColumnType.NUMBER:
                found[name] = ColumnType.NUMBER
    return [Column(name, kind) for name, kind in found.items()]


def type_of(value: Any) -> ColumnType | None:
    """Return the type that a value asks for; None where it says nothing: null, and numbers that none can hold."""
    match value:
        case str():
            return ColumnType.TEXT
        case dict() | list():
            return ColumnType.JSON
        case bool():
            return ColumnType.BOOLEAN
        case int():
            return ColumnType.INTEGER if -INT64 <= value < INT64 else None
        case float():
            return ColumnType.NUMBER if isfinite(value) else None
        case _:
            return None


def cells(items: Sequence[Item], column: Column) -> list[Value]:
    """Return what a column takes of each item."""
    name = column.name
    values = [item.fields.get(name) for item in items]
    match column.type:
        case ColumnType.TEXT:
            return [value if type(value) is str else None for value in values]
        case ColumnType.INTEGER:
            return [value if type(value) is int and -INT64 <= value < INT64 else _integer(value) for value in values]
        case ColumnType.NUMBER:
            return [value if type(value) is float and isfinite(value) else _number(value) for value in values]
        case ColumnType.BOOLEAN:
            return [value if type(value) is bool else None for value in values]
        case ColumnType.JSON:
            return [item.json(name) for item in items]
        case ColumnType.TIMESTAMP:
            return [None for _ in values]
        case never:
            assert_never(never)


def _integer(value: Any) -> int | None:
    """Return a double that is an integer of 64 bits."""
    whole = type(value) is float and value.is_integer() and -INT64 <= value < INT64
    return int(value) if whole else None


def _number(value: Any) -> float | None:
    """Return an integer as a double that is the same number."""
    if type(value) is not int:
        return None
    try:
        double = float(value)
    except OverflowError:
        return None
    return double if int(double) == value else None
