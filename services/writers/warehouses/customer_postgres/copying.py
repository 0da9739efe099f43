"""Rows in the text format of COPY, made column by column: one by one, as the driver makes them, they cost more."""

from collections.abc import Sequence
from functools import lru_cache

from services.writers.warehouses.converting import Conversions, time_of
from services.writers.warehouses.warehouse import Column, ColumnType, Value

NULL = r"\N"
TEXTS = (ColumnType.TEXT, ColumnType.JSON, ColumnType.TIMESTAMP)  # types of which values have become texts
# What stands for a character of its own in this format, the backslash first.
ESCAPES = (("\\", r"\\"), ("\t", r"\t"), ("\n", r"\n"), ("\r", r"\r"))


def copied(columns: Sequence[Column], rows: Sequence[Sequence[Value]]) -> bytes:
    """Return rows, at least one, as COPY reads them; ValueError names the column of which a value is none there."""
    converted = Conversions(columns, {ColumnType.TIMESTAMP: _time}).columns(rows)
    written = map(_column, columns, converted)
    return "\n".join((*map("\t".join, zip(*written, strict=True)), "")).encode()


def _column(column: Column, values: Sequence[Value]) -> Sequence[str]:
    try:
        if column.type in TEXTS:
            try:
                return _escaped(values)  # type: ignore[arg-type]
            except TypeError:  # some are none
                pass
        return _written(values)
    except ValueError as error:
        raise ValueError(f"{column.name} {error}") from None


def _written(values: Sequence[Value]) -> Sequence[str]:
    """Write the values of a column: mostly all of them are of one type."""
    kinds = set(map(type, values))
    if kinds == {str}:
        return _escaped(values)  # type: ignore[arg-type]
    if kinds <= {int, float}:
        return list(map(repr, values))
    if kinds == {bool}:
        return ["t" if value else "f" for value in values]
    if kinds == {type(None)}:
        return [NULL] * len(values)
    return [each for value in values for each in _written((value,))]


def _escaped(texts: Sequence[str]) -> Sequence[str]:
    joined = "".join(texts)
    if "\0" in joined:
        raise ValueError("has a NUL, which Postgres does not take")
    _check(joined)
    if not any(character in joined for character, _ in ESCAPES):
        return texts
    return [_one(text) for text in texts]


def _one(text: str) -> str:
    for character, written in ESCAPES:
        text = text.replace(character, written)
    return text


def _check(text: str) -> None:
    try:
        _ = text.isascii() or text.encode()
    except UnicodeEncodeError:
        raise ValueError("has half of a surrogate pair, which Postgres does not take") from None


@lru_cache(maxsize=4096)
def _time(value: Value) -> Value:
    return time_of(value).isoformat(sep=" ") if isinstance(value, int) else value
