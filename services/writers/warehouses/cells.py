"""Which type the column of a field is made with, and what its column takes of a value: what does not fit is NULL.

Nothing is lost by that: the column `_data` has the whole item.
"""

import json
import math
from collections.abc import Iterable, Mapping

from services.writers.warehouses.items import Item
from services.writers.warehouses.warehouse import Column, ColumnType, Value

INT64 = 1 << 63


def new_columns(items: Iterable[Item], there: Mapping[str, object], room: int) -> list[Column]:
    """Return columns for fields that have none yet, in the order in which they come, at most so many.

    The first value that is not null says of which type: an integer is a number where a fraction comes in these items.
    """
    found: dict[str, ColumnType] = {}
    for item in items:
        for name, value in item.fields.items():
            if name in there or (len(found) >= room and name not in found):
                continue
            kind = type_of(value)
            if kind and (name not in found or (found[name], kind) == (ColumnType.INTEGER, ColumnType.NUMBER)):
                found[name] = kind
    return [Column(name, kind) for name, kind in found.items()]


def type_of(value: bytes) -> ColumnType | None:
    """Return the type that a JSON value asks for; None where it says nothing: null, and numbers that none can hold."""
    match value[:1]:
        case b'"':
            return ColumnType.TEXT
        case b"{" | b"[":
            return ColumnType.JSON
        case b"t" | b"f":
            return ColumnType.BOOLEAN
        case b"n":
            return None
        case _:
            number = json.loads(value)
            if isinstance(number, int):
                return ColumnType.INTEGER if -INT64 <= number < INT64 else None
            return ColumnType.NUMBER if math.isfinite(number) else None


def cell(value: bytes | None, kind: ColumnType) -> Value:
    """Return what a column takes of a JSON value."""
    if value is None or value == b"null":
        return None
    if kind is ColumnType.JSON:
        return value.decode()
    if value[:1] in b'{["':
        return json.loads(value) if kind is ColumnType.TEXT and value[:1] == b'"' else None
    return _plain(json.loads(value), kind)


def _plain(value: bool | int | float, kind: ColumnType) -> Value:
    match value, kind:
        case bool(), _:
            return value if kind is ColumnType.BOOLEAN else None
        case int(), ColumnType.INTEGER:
            return value if -INT64 <= value < INT64 else None
        case int(), ColumnType.NUMBER:
            return _double(value)
        case float(), ColumnType.NUMBER:
            return value if math.isfinite(value) else None
        case float(), ColumnType.INTEGER:
            return int(value) if value.is_integer() and -INT64 <= value < INT64 else None
        case _:
            return None


def _double(value: int) -> float | None:
    """Return an integer as a double that is the same number."""
    try:
        double = float(value)
    except OverflowError:
        return None
    return double if int(double) == value else None
