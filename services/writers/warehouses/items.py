"""From an extraction to the items that become rows: each as its JSON text, and its fields by the names of columns."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from services.writers.rows import Unreadable
from services.writers.warehouses.names import names_of

Members = dict[str, Any]
_MEMBERS: msgspec.json.Decoder[dict[str, Any]] = msgspec.json.Decoder(dict[str, Any])
_WRITTEN = msgspec.json.Decoder(dict[str, msgspec.Raw])


class _Listed(msgspec.Struct, forbid_unknown_fields=True):
    """A list that stands alone under `items`, as it is written."""

    items: list[msgspec.Raw]


class _Objects(msgspec.Struct, forbid_unknown_fields=True):
    """The same, as Python has it."""

    items: list[dict[str, Any]]


_LISTED, _OBJECTS = msgspec.json.Decoder(_Listed), msgspec.json.Decoder(_Objects)


class Items:
    """The items of one extraction, as texts and by the names of columns; mostly all of them have the same fields."""

    __slots__ = ("_members", "_shapes", "_values", "_written", "columns", "texts")

    def __init__(self, texts: Sequence[str], members: Sequence[Members]) -> None:
        self.texts = texts
        self._members = members
        self._shapes = [names_of(fields) for fields in dict.fromkeys(map(tuple, members))]
        self.columns = tuple(dict.fromkeys(name for shape in self._shapes for name in shape.columns))
        self._values: Mapping[str, Sequence[Any]] | None = None
        self._written: list[Mapping[str, str]] | None = None

    def __len__(self) -> int:
        return len(self.texts)

    def values(self, column: str) -> Sequence[Any]:
        """Return what each item has in a column, as Python has it; None where it has nothing."""
        if self._values is None:
            self._values = self._alike() if len(self._shapes) == 1 else self._apart()
        return self._values.get(column) or (None,) * len(self)

    def json(self, column: str) -> list[str | None]:
        """Return the JSON of a column as it is written in each item; None where there is none, or null."""
        if self._written is None:
            self._written = [_texts_of(text) for text in self.texts]
        found = (written.get(column) for written in self._written)
        return [None if each == "null" else each for each in found]

    def _alike(self) -> Mapping[str, Sequence[Any]]:
        [shape] = self._shapes
        fields = zip(*map(dict.values, self._members), strict=True)
        by_field = dict(zip(self._members[0], fields, strict=True))
        return by_field if shape.same else {column: by_field[field] for field, column in shape.pairs}

    def _apart(self) -> Mapping[str, Sequence[Any]]:
        values: dict[str, list[Any]] = {column: [None] * len(self) for column in self.columns}
        for at, members in enumerate(self._members):
            for field, column in names_of(tuple(members)).pairs:
                values[column][at] = members[field]
        return values


def _texts_of(text: str) -> Mapping[str, str]:
    written = _WRITTEN.decode(text)
    return {name: bytes(written[field]).decode() for field, name in names_of(tuple(written)).pairs}


def items_of(normalized: str) -> Items:
    """Return the items of what an extractor has read: `{"items": [...]}` of objects, or one object."""
    try:
        return Items(*(_listed(normalized) or ([normalized], [_members(normalized)])))
    except (msgspec.DecodeError, RecursionError) as error:
        raise Unreadable(f"no object: {type(error).__name__}") from error


def items_of_texts(texts: Sequence[str]) -> Items:
    """Return items of their texts, each the JSON of an object."""
    try:
        return Items(texts, list(map(_members, texts)))
    except (msgspec.DecodeError, RecursionError) as error:
        raise Unreadable(f"an item is no object: {type(error).__name__}") from error


def _listed(normalized: str) -> tuple[Sequence[str], Sequence[Members]] | None:
    """Return the objects of a list that stands alone under `items`, as text and as they are read, or None."""
    try:
        written = _LISTED.decode(normalized).items
    except msgspec.ValidationError:
        return None
    texts = [str(each, "utf-8") for each in written]
    try:
        return texts, _OBJECTS.decode(normalized).items
    except (msgspec.ValidationError, RecursionError):  # no objects, or somewhere in them is what Python cannot have
        return (texts, [_members(each) for each in texts]) if all(each.startswith("{") for each in texts) else None


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
