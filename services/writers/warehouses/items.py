"""From an extraction to the items that become rows: each as its JSON text, and its fields by the names of columns."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import msgspec

from services.writers.rows import Unreadable

NAME_CHARS = 63
_OTHER = re.compile(r"[^a-z0-9]+")
Fields = Mapping[str, msgspec.Raw]


@dataclass(frozen=True, slots=True)
class Item:
    """One item: `fields` are its members by column name, each as JSON."""

    text: str
    fields: Mapping[str, bytes]


def items_of(normalized: str) -> list[Item]:
    """Return the items of what an extractor has read: `{"items": [...]}` of objects, or one object."""
    try:
        members = msgspec.json.decode(normalized, type=dict[str, msgspec.Raw])
        listed = _listed(members)
        found = [normalized.encode()] if listed is None else listed
        return [_item(each) for each in found]
    except (msgspec.DecodeError, RecursionError) as error:
        raise Unreadable(f"no object: {type(error).__name__}") from error


def _listed(members: Fields) -> Sequence[bytes] | None:
    """Return the members of a list of objects that stands alone under `items`, or None."""
    if members.keys() != {"items"} or not bytes(members["items"]).startswith(b"["):
        return None
    items = [bytes(each) for each in msgspec.json.decode(members["items"], type=list[msgspec.Raw])]
    return items if all(each.startswith(b"{") for each in items) else None


def _item(data: bytes) -> Item:
    fields: dict[str, bytes] = {}
    for field, value in msgspec.json.decode(data, type=dict[str, msgspec.Raw]).items():
        name = column_name(field)
        if name and name not in fields:
            fields[name] = bytes(value)
    return Item(data.decode(), fields)


@lru_cache(maxsize=4096)
def column_name(field: str) -> str:
    """Return the name of the column of a field; empty where nothing of it is a letter or digit of ASCII.

    Accents go, and each run of other characters becomes an underscore. None begins with one but for digits, whose
    columns would have no good name: the names that the writer has for its own columns are never taken.
    """
    plain = "".join(each for each in unicodedata.normalize("NFKD", field.casefold()) if not unicodedata.combining(each))
    name = _OTHER.sub("_", plain).strip("_")
    return (f"_{name}" if name[:1].isdigit() else name)[:NAME_CHARS].rstrip("_")
