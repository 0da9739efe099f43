"""From an extraction to the items that become rows: each as its JSON text, and its fields by the names of columns."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from services.writers.rows import Unreadable
from services.writers.warehouses.names import Names, names_of

Members = Mapping[str, Any]
_OBJECTS: msgspec.json.Decoder[list[dict[str, Any]]] = msgspec.json.Decoder(list[dict[str, Any]])
_MEMBERS: msgspec.json.Decoder[dict[str, Any]] = msgspec.json.Decoder(dict[str, Any])
_WRITTEN = msgspec.json.Decoder(dict[str, msgspec.Raw])
_LISTED = msgspec.json.Decoder(list[msgspec.Raw])


class Item:
    """One item: `fields` are its members by column name, as Python has them; `columns` are these names."""

    __slots__ = ("_json", "columns", "fields", "text")

    def __init__(self, text: str, members: Mapping[str, Any], names: Names) -> None:
        self.text = text
        self.fields = members if names.same else {column: members[field] for field, column in names.pairs}
        self.columns = names.columns
        self._json: Mapping[str, str] | None = None

    def json(self, column: str) -> str | None:
        """Return the JSON of a member as it is written in the item; None where there is none, or null."""
        if self._json is None:
            written = _WRITTEN.decode(self.text)
            self._json = {name: bytes(written[field]).decode() for field, name in names_of(tuple(written)).pairs}
        found = self._json.get(column)
        return None if found == "null" else found


def items_of(normalized: str) -> list[Item]:
    """Return the items of what an extractor has read: `{"items": [...]}` of objects, or one object."""
    try:
        listed = _listed(_WRITTEN.decode(normalized))
        return _items([normalized], [_members(normalized)]) if listed is None else _items(*listed)
    except (msgspec.DecodeError, RecursionError) as error:
        raise Unreadable(f"no object: {type(error).__name__}") from error


def _listed(members: Mapping[str, msgspec.Raw]) -> tuple[Sequence[str], Sequence[Members]] | None:
    """Return the objects of a list that stands alone under `items`, as text and as they are read, or None."""
    if members.keys() != {"items"} or not bytes(members["items"]).startswith(b"["):
        return None
    written = members["items"]
    texts = [bytes(each).decode() for each in _LISTED.decode(written)]
    try:
        return texts, _OBJECTS.decode(written)
    except (msgspec.ValidationError, RecursionError):  # no objects, or somewhere in them is what Python cannot have
        return (texts, [_members(each) for each in texts]) if all(each.startswith("{") for each in texts) else None


def _items(texts: Sequence[str], objects: Sequence[Members]) -> list[Item]:
    """Return items, of which most have the fields of the one before."""
    items: list[Item] = []
    last: tuple[str, ...] = ()
    names = names_of(last)
    for text, members in zip(texts, objects, strict=True):
        fields = tuple(members)
        if fields != last:
            names, last = names_of(fields), fields
        items.append(Item(text, members, names))
    return items


def _members(text: str) -> Members:
    try:
        return _MEMBERS.decode(text)
    except (msgspec.ValidationError, RecursionError):  # somewhere in it is what Python cannot have
        return {field: _value(value) for field, value in _WRITTEN.decode(text).items()}


def _value(written: msgspec.Raw) -> Any:
    """Return a value as Python has it; where it can have none, one of which the type is the same."""
    try:
        return msgspec.json.decode(written)
    except (msgspec.ValidationError, RecursionError):
        return {} if bytes(written)[:1] in (b"{", b"[") else math.inf
