"""Events to bytes and back: Avro in the Confluent wire format (zero byte, schema id in 4 bytes, Avro body).

CodecError
├── NotAnEvent      the bytes are no Confluent-framed Avro record of ours
└── UnknownSchema   the registry knows no such schema id
"""

import io
import struct
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import fastavro
import msgspec
from fastavro.schema import to_parsing_canonical_form

from schemas.avro_of import NAMESPACE, record_schema
from schemas.events import EVENT_TYPES
from schemas.reading import Readers, readers_of
from schemas.recorded import Header, Recorded
from schemas.writing import writer_of

FRAME = struct.Struct(">bI")
NAME_SHOWN = 100  # characters of the name of a schema that is not ours
SchemaById = Callable[[int], dict[str, Any]]
_Writer = tuple[str, Any, Readers | None]  # type of event, its schema, and the readers where that is today's


class CodecError(Exception):
    """Root of the errors of the codec."""


class NotAnEvent(CodecError):
    """The bytes are no Confluent-framed Avro record of ours; `schema` is the type whose schema they name, if any."""

    def __init__(self, message: str, schema: str = "") -> None:
        super().__init__(message)
        self.schema = schema


class UnknownSchema(CodecError):
    """The registry knows no such schema id."""


class Claim(msgspec.Struct, frozen=True, gc=False):
    """Where an event says that it belongs, and what it says where that was asked for and is known."""

    partition: int
    position: int
    org_id: str
    recorded: Recorded | None = None
    event_type: str = ""  # as the header beside it says, where that was looked at


def subject_of(event_type: str) -> str:
    """Subject of an event's schema in the registry (RecordNameStrategy)."""
    return f"{NAMESPACE}.{event_type}"


class Encoder:
    """Encodes recorded events with the schema ids that the registry gave to our schemas."""

    def __init__(self, ids: Mapping[str, int]) -> None:
        self._types = {name: (FRAME.pack(0, ids[name]), writer_of(name)) for name in EVENT_TYPES}

    def encode(self, recorded: Recorded) -> bytes:
        """Return the bytes of one event as they are stored, hashed and sent."""
        frame, write = self._types[recorded.header.event_type]
        return write(frame, recorded.header, recorded.event)


class Decoder:
    """Decodes events of every released version into today's types.

    `schema_by_id` asks the registry for a writer's schema and raises UnknownSchema where it knows none.
    Records of types that this version does not know decode to None: skip them, they are facts for others.
    """

    def __init__(self, schema_by_id: SchemaById) -> None:
        self._schema_by_id = schema_by_id
        self._writers: dict[int, _Writer] = {}

    def decode(self, data: bytes) -> Recorded | None:
        """Return the event in these bytes, or raise NotAnEvent or UnknownSchema."""
        name, writer, today = self._writer_of(data)
        if name not in EVENT_TYPES:
            return None
        try:
            return today.event(data) if today else _resolved(data, name, writer)
        except Exception as error:  # bytes provoke whatever there is: EOFError, IndexError, ValueError ...
            raise NotAnEvent(f"not a {name} record: {type(error).__name__}", name) from error

    def claim(self, data: bytes) -> Claim:
        """Read the bytes to their end, but make no event of them: less work than `decode`. Raises what it does."""
        name, writer, today = self._writer_of(data)
        try:
            if today:
                return Claim(*today.place(data))
            record = _read(data, name, writer, None)
            return Claim(record["partition"], record["position"], record["org_id"])
        except Exception as error:  # as above
            raise NotAnEvent(f"not a {name} record: {type(error).__name__}", name) from error

    def whole(self, data: bytes) -> Claim:
        """Return the claim with the event in it, where this version knows its type."""
        recorded = self.decode(data)
        if recorded is None:
            return self.claim(data)
        return Claim(recorded.header.partition, recorded.header.position, recorded.event.org_id, recorded)

    def _writer_of(self, data: bytes) -> _Writer:
        if len(data) < FRAME.size or data[0] != 0:
            raise NotAnEvent("no Confluent frame: expected a zero byte and a 4-byte schema id")
        _, schema_id = FRAME.unpack_from(data)
        return self._writers.get(schema_id) or self._learn(schema_id)

    def _learn(self, schema_id: int) -> _Writer:
        writer = self._schema_by_id(schema_id)
        namespace, _, name = _full_name(writer).rpartition(".")
        if namespace != NAMESPACE:
            raise NotAnEvent(f"{_full_name(writer)[:NAME_SHOWN]} is no event of this ledger")
        today = readers_of(name) if name in EVENT_TYPES and _same(writer, record_schema(name)) else None
        self._writers[schema_id] = known = (name, fastavro.parse_schema(writer), today)
        return known


def _same(one: Any, other: Any) -> bool:
    """Whether two schemas write the same bytes: names, fields and symbols in their order, whatever is said of them."""
    return to_parsing_canonical_form(one) == to_parsing_canonical_form(other)


@cache
def _schema_of(event_type: str) -> Any:
    """Return the schema of today, parsed once for all encoders and decoders: they only read it."""
    return parsed(record_schema(event_type))


def parsed(schema: dict[str, Any]) -> Any:
    """Return a schema as fastavro reads by it, the defaults of bytes as bytes: it hands out what stands there.

    Avro writes them as texts of the characters 0 to 255, and a field that an old writer did not have would be one.
    """
    ready: Any = fastavro.parse_schema(schema)
    _set_bytes(ready)
    return ready


def _set_bytes(avro: Any) -> None:
    match avro:
        case {"type": "record", "fields": fields}:
            for field in fields:
                _set_bytes(field["type"])
                if field["type"] == "bytes" and isinstance(field.get("default"), str):
                    field["default"] = field["default"].encode("latin-1")
        case {"type": "array", "items": items}:
            _set_bytes(items)


def _resolved(data: bytes, name: str, writer: Any) -> Recorded:
    """Return the event of an earlier or later schema, as today's classes have it."""
    record = _read(data, name, writer, _schema_of(name))
    return Recorded(
        msgspec.convert(record, Header, builtin_types=(bytes,)),
        msgspec.convert(record, EVENT_TYPES[name], builtin_types=(bytes,)),
    )


def _read(data: bytes, name: str, writer: Any, reader: Any) -> Any:
    body = io.BytesIO(data)
    body.seek(FRAME.size)
    record: Any = fastavro.schemaless_reader(body, writer, reader)
    if body.tell() != len(data):  # whoever reads many events in one go would begin the next one there
        raise ValueError("bytes behind its end")
    if record["event_type"] != name:  # the schema id is of another registry, where two types have the same shape
        raise ValueError("it says another type than its schema")
    return record


def _full_name(schema: Any) -> str:
    """Return the name of a record with its namespace; the registry may hold other schemas too."""
    if not isinstance(schema, dict):
        return str(schema)
    name = str(schema.get("name", ""))
    return name if "." in name else f"{schema.get('namespace', '')}.{name}"


def event_type_of(headers: list[tuple[str, bytes]] | None) -> str:
    """Read the event type from a record's CloudEvents headers, without decoding; empty: not there."""
    for key, value in headers or ():
        if key == "ce_type":
            return value.decode("ascii", "replace").removeprefix("jobledger.")
    return ""
