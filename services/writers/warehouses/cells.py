"""Which type the column of a field is made with, and what its column takes of a value: what does not fit is NULL.

Nothing is lost by that: the column `_data` has the whole item.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import Any, assert_never

from services.writers.warehouses.items import Items
from services.writers.warehouses.warehouse import Column, ColumnType, Value

INT64 = 1 << 63
TEXTS, BOOLEANS = {str, type(None)}, {bool, type(None)}


def new_columns(extractions: Iterable[Items], there: Mapping[str, object], room: int) -> list[Column]:
    """Return columns for fields that have none yet, in the order in which they come, at most so many.

    The first value that is not null says of which type: an integer is a number where a fraction comes in these items.
    """
    found: dict[str, ColumnType] = {}
    for items in extractions:
        for name in items.columns:
            if name in there or (name not in found and len(found) >= room):
                continue
            kinds = [kind for kind in map(type_of, items.values(name)) if kind]
            if kinds:
                found.setdefault(name, kinds[0])
            if found.get(name) is ColumnType.INTEGER and ColumnType.NUMBER in kinds:
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


def cells(items: Items, column: Column) -> Sequence[Value]:
    """Return what a column takes of each item: mostly all as they are."""
    if column.type is ColumnType.JSON:
        return items.json(column.name)
    values = items.values(column.name)
    kinds = set(map(type, values))
    match column.type:
        case ColumnType.TEXT:
            return values if kinds <= TEXTS else [value if type(value) is str else None for value in values]
        case ColumnType.INTEGER:
            fit = kinds == {int} and min(values) >= -INT64 and max(values) < INT64
            return values if fit else [_integer(value) for value in values]
        case ColumnType.NUMBER:
            fit = kinds == {float} and all(map(isfinite, values))
            return values if fit else [_number(value) for value in values]
        case ColumnType.BOOLEAN:
            return values if kinds <= BOOLEANS else [value if type(value) is bool else None for value in values]
        case ColumnType.TIMESTAMP:
            return [None] * len(values)
        case never:
            assert_never(never)


def _integer(value: Any) -> int | None:
    """Return an integer of 64 bits, also of a double that is one."""
    if type(value) is float and value.is_integer():
        value = int(value)
    return value if type(value) is int and -INT64 <= value < INT64 else None


def _number(value: Any) -> float | None:
    """Return a double, also of an integer that is the same number."""
    if type(value) is float:
        return value if isfinite(value) else None
    if type(value) is not int:
        return None
    try:
        double = float(value)
    except OverflowError:
        return None
    return double if int(double) == value else None
