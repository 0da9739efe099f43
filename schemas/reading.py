"""Reads events whose schema is today's: a function for each type, whose code is written from the schema once.

What fastavro reads through a schema, field by field into a dictionary and from there into classes, stands here as
straight code: a quarter of the time. It refuses what fastavro refuses (`tests/unit/schemas/test_bytes.py` holds the
two against each other), and events of earlier schemas stay fastavro's.
"""

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, NoReturn, get_args

from msgspec import Meta

from schemas.avro_of import field_hint, record_schema
from schemas.events import EVENT_TYPES
from schemas.recorded import Header, Recorded

FRAME_BYTES = 5
MAX_BITS = 64
_double = struct.Struct("<d").unpack_from

# `d` is the whole record, `i` the place in it, `{to}` the variable that gets the value. A slice or a place behind the
# end shows at the end of the record, where `i` is not its length.
LENGTH = """
n = d[i]; i += 1
if n & 0x81: n, i = length(d, i - 1)
j = i + (n >> 1)"""
LONG = """
n = d[i]; i += 1
if n & 0x80: n, i = long(d, i - 1)
{to} = n >> 1 ^ -(n & 1)"""
TEXT = (
    LENGTH
    + """
{to} = str(d[i:j], "utf-8"); i = j"""
)
BYTES = (
    LENGTH
    + """
{to} = d[i:j]; i = j"""
)
BOOLEAN = """
{to} = d[i] != 0; i += 1"""
DOUBLE = """
{to} = double(d, i)[0]; i += 8"""
FIXED = """
{to} = d[i:i + {size}]; i += {size}"""
ENUM = """
n = d[i]; i += 1
if n & 0x81: refuse("no such symbol")
{to} = {members}[n >> 1]"""
CALL = """
{to}, i = {call}(d, i)"""
PLAIN = {"long": LONG, "string": TEXT, "bytes": BYTES, "boolean": BOOLEAN, "double": DOUBLE}


@dataclass(frozen=True, slots=True)
class Readers:
    """What reads the events of one type; both raise what bytes provoke that are none."""

    event: Callable[[bytes], Recorded]
    place: Callable[[bytes], tuple[int, int, str]]  # partition, position and org; the rest is gone through, not made


@cache
def readers_of(event_type: str) -> Readers:
    """Return the readers of a type of event."""
    cls, schema = EVENT_TYPES[event_type], record_schema(event_type)
    code = _Code()
    header, own = Header.__struct_fields__, cls.__struct_fields__
    body = list(code.fields(schema["fields"], lambda name: field_hint(Header if name in header else cls, name)))
    body += ['if i != len(d): refuse("it is longer or shorter than its fields")']
    body += [f'if event_type != "{event_type}": refuse("it says another type than its schema")']
    code.names |= {"Header": Header, "Event": cls, "Recorded": Recorded}
    whole = f"return Recorded(Header({_filled(header)}), Event({_filled(own)}))"
    return Readers(
        code.function(f"read_{event_type}", f"d, i={FRAME_BYTES}", [*body, whole]),
        code.function(f"place_of_{event_type}", f"d, i={FRAME_BYTES}", [*body, "return partition, position, org_id"]),
    )


class _Code:
    """Functions that are written here, and the names that they use."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {"length": _length, "long": _long, "double": _double, "refuse": _refuse}
        self._named: dict[str, str] = {}  # how a value of a named type is read

    def function(self, name: str, arguments: str, body: list[str]) -> Any:
        source = "\n".join([f"def {name}({arguments}):", *(f"    {line}" for line in body)])
        exec(compile(source, f"<{name}>", "exec"), self.names)  # noqa: S102  # written from our own schemas, above
        return self.names[name]

    def fields(self, fields: list[dict[str, Any]], hint: Callable[[str], Any]) -> Iterator[str]:
        """Yield the lines that read each field of a record into a variable of its name."""
        for field in fields:
            name = field["name"]
            plain, notes = hint(name)
            yield from self._value(field["type"], plain).format(to=name).strip().splitlines()
            yield from (f'if not {note.ge} <= {name} <= {note.le}: refuse("{name}")' for note in notes if _bounds(note))

    def _value(self, avro: Any, plain: Any) -> str:
        match avro:
            case {"type": "array", "items": items}:
                return CALL.replace("{call}", self._array(items, get_args(plain)[0]))
            case {"type": "fixed", "name": name, "size": size}:
                self._named[name] = FIXED.replace("{size}", str(size))
            case {"type": "enum", "name": name, "symbols": symbols}:
                self.names[name] = tuple(plain(symbol) for symbol in symbols)
                self._named[name] = ENUM.replace("{members}", name)
            case {"type": "record", "name": name, "fields": fields}:
                body = [*self.fields(fields, lambda inner: field_hint(plain, inner))]
                self.names[name] = plain
                self.function(f"read_{name}", "d, i", [*body, f"return {name}({_filled(plain.__struct_fields__)}), i"])
                self._named[name] = CALL.replace("{call}", f"read_{name}")
            case str(primitive) if primitive in PLAIN:
                return PLAIN[primitive]
            case str(name):
                return self._named[name.rpartition(".")[2]]
        return self._named[avro["name"]]

    def _array(self, items: Any, plain: Any) -> str:
        """Write a function that reads an array, which comes in blocks; a negative count has its bytes after it."""
        name = f"read_array_{len(self.names)}"
        body = f"""
values = []
while True:
    {_within(LONG.format(to="count"))}
    if count < 0:
        count = -count
        {_within(LONG.format(to="_"), 2)}
    if not count:
        return tuple(values), i
    if count > len(d):
        refuse("an array longer than its record")
    for _ in range(count):
        {_within(self._value(items, plain).format(to="value"), 2)}
        values.append(value)"""
        self.function(name, "d, i", body.strip().splitlines())
        return name


def _within(lines: str, depth: int = 1) -> str:
    return lines.strip().replace("\n", "\n" + "    " * depth)


def _filled(names: tuple[str, ...]) -> str:
    return ", ".join(f"{name}={name}" for name in names)


def _bounds(note: Meta) -> bool:
    return note.ge is not None and note.le is not None


def _long(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of several bytes, its sign still in the lowest bit, and the place behind it."""
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
        if shift >= MAX_BITS:  # ten bytes at most: to read a megabyte of them on takes half a minute
            _refuse("a number that does not end")
    if number.bit_length() > MAX_BITS:
        _refuse("a number that no long can hold")
    return number, at


def _length(data: bytes, at: int) -> tuple[int, int]:
    number, at = _long(data, at)
    if number & 1:
        _refuse("a length below zero")
    return number, at


def _refuse(reason: str) -> NoReturn:
    raise ValueError(reason)
