"""Bytes of events as Avro has them: a function for each type, whose code is written from the schema once.

Most fields of most events are empty, which is one zero byte, and what comes again and again (ids, names, small numbers)
is made once. The same bytes as fastavro's writer makes, in less than a third of its time: the two are held against each
other by `tests/unit/schemas/test_bytes.py`. That values have the types of their fields is the type check's care.
"""

import struct
from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from typing import Any

from schemas.avro_of import record_schema
from schemas.event import Event
from schemas.recorded import Header

Write = Callable[[bytes, Header, Event], bytes]  # what stands before the event, and the event
REMEMBERED_TEXTS = 20_000  # ids of a batch of jobs, and the words of their workflows
REMEMBERED_NUMBERS = 20_000
_double = struct.Struct("<d").pack
MIN_LONG, MAX_LONG = -(1 << 63), (1 << 63) - 1

# `{of}` is the value, `v` a variable for it: what is empty, zero or false needs no call.
PLAIN = {
    "long": 'long(v) if (v := {of}) else b"\\0"',
    "string": 'text(v) if (v := {of}) else b"\\0"',
    "bytes": 'blob(v) if (v := {of}) else b"\\0"',
    "boolean": 'b"\\1" if {of} else b"\\0"',
    "double": "double({of})",
}
ARRAY = 'array(v, {write}) if (v := {of}) else b"\\0"'


@lru_cache(REMEMBERED_NUMBERS)
def long(value: int) -> bytes:
    """Return a number as Avro writes it: its sign in the lowest bit, seven bits a byte."""
    if not MIN_LONG <= value <= MAX_LONG:
        raise ValueError(f"{value} does not fit into a long")
    left = value << 1 if value >= 0 else ~(value << 1)
    out = bytearray()
    while left > 0x7F:
        out.append(left & 0x7F | 0x80)
        left >>= 7
    out.append(left)
    return bytes(out)


@lru_cache(REMEMBERED_TEXTS)
def text(value: str) -> bytes:
    """Return a text: its length in bytes, and its bytes."""
    return blob(value.encode())


def blob(value: bytes) -> bytes:
    """Return bytes with their length before them."""
    return long(len(value)) + value


@cache
def writer_of(event_type: str) -> Write:
    """Return what writes an event of a type behind the bytes that it is given."""
    fields = record_schema(event_type)["fields"]
    header = Header.__struct_fields__
    code = _Code()
    values = code.values(fields, lambda name: f"header.{name}" if name in header else f"event.{name}")
    write: Write = code.function(f"write_{event_type}", "frame, header, event", ["frame", *values])
    return write


class _Code:
    """Functions that are written here, and the names that they use."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {"long": long, "text": text, "blob": blob, "double": _double}
        self.names |= {"array": _array, "sized": _sized}
        self._named: dict[str, str] = {}  # how a value of a named type is written

    def function(self, name: str, arguments: str, parts: list[str]) -> Any:
        lines = [
            f"def {name}({arguments}):",
            '    return b"".join((',
            *(f"        {part}," for part in parts),
            "    ))",
        ]
        source = "\n".join(lines)
        exec(compile(source, f"<{name}>", "exec"), self.names)  # noqa: S102  # written from our own schemas, above
        return self.names[name]

    def values(self, fields: list[dict[str, Any]], of: Callable[[str], str]) -> Iterator[str]:
        """Yield the expression for the bytes of each field of a record."""
        return (self._value(field["type"]).format(of=of(field["name"])) for field in fields)

    def _value(self, avro: Any) -> str:
        match avro:
            case {"type": "array", "items": items}:
                return ARRAY.replace("{write}", self._writer(items))
            case {"type": "fixed", "name": name, "size": size}:
                self._named[name] = f"sized({{of}}, {size})"
            case {"type": "enum", "name": name, "symbols": symbols}:
                self.names[name] = {symbol: long(number) for number, symbol in enumerate(symbols)}
                self._named[name] = f"{name}[{{of}}]"
            case {"type": "record", "name": name, "fields": fields}:
                self.function(f"write_{name}", "record", [*self.values(fields, lambda inner: f"record.{inner}")])
                self._named[name] = f"write_{name}({{of}})"
            case str(primitive) if primitive in PLAIN:
                return PLAIN[primitive]
            case str(name):
                return self._named[name.rpartition(".")[2]]
        return self._named[avro["name"]]

    def _writer(self, items: Any) -> str:
        """Write a function for the items of an array."""
        name = f"write_item_{len(self.names)}"
        self.function(name, "item", [self._value(items).format(of="item")])
        return name


def _sized(value: bytes, size: int) -> bytes:
    if len(value) != size:
        raise ValueError(f"{len(value)} bytes where {size} belong")
    return value


def _array(values: Sequence[Any], write: Callable[[Any], bytes]) -> bytes:
    return b"".join((long(len(values)), *map(write, values), b"\0"))
