"""Names of columns for the fields of items; they are remembered, for items of a site have the same fields."""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

NAME_CHARS = 63
REMEMBERED_CHARS = 16_384  # of all fields of an item together; longer ones are named anew each time
_OTHER = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Names:
    """What columns the fields of an item have."""

    pairs: tuple[tuple[str, str], ...]  # field and column, of those that have one
    columns: tuple[str, ...]
    same: bool  # each field has the column of its own name


def names_of(fields: tuple[str, ...]) -> Names:
    """Return the columns of fields; of two with one name the first has the column."""
    return _remembered(fields) if sum(map(len, fields)) <= REMEMBERED_CHARS else _named(fields)


def column_name(field: str) -> str:
    """Return the name of the column of a field; empty where nothing of it is a letter or digit of ASCII.

    Accents go, and each run of other characters becomes an underscore. None begins with one but for digits, whose
    columns would have no good name: the names that the writer has for its own columns are never taken.
    """
    plain = "".join(each for each in unicodedata.normalize("NFKD", field.casefold()) if not unicodedata.combining(each))
    name = _OTHER.sub("_", plain).strip("_")
    return (f"_{name}" if name[:1].isdigit() else name)[:NAME_CHARS].rstrip("_")


def _named(fields: tuple[str, ...]) -> Names:
    by_column: dict[str, str] = {}
    for field in fields:
        if name := column_name(field):
            by_column.setdefault(name, field)
    pairs = tuple((field, column) for column, field in by_column.items())
    return Names(pairs, tuple(by_column), all(field == column for field, column in pairs) and len(pairs) == len(fields))


_remembered = lru_cache(maxsize=256)(_named)
