"""Events to bytes and back: Avro in the Confluent wire format (zero byte, schema id in 4 bytes, Avro body).

CodecError
├── NotAnEvent      the bytes are no Confluent-framed Avro record
└── UnknownSchema   the registry knows no such schema id
"""

import io
import struct
from collections.abc import Callable, Mapping
from typing import Any

import fastavro
import msgspec

from schemas.avro_of import record_schema
from schemas.events import EVENT_TYPES, Header, Recorded

FRAME = struct.Struct(">bI")
SchemaById = Callable[[int], dict[str, Any]]


class CodecError(Exception):
    """Root of the errors of the codec."""


class NotAnEvent(CodecError):
    """The bytes are no Confluent-framed Avro record."""


class UnknownSchema(CodecError):
    """The registry knows no such schema id."""


def subject_of(event_type: str) -> str:
    """Subject of an event's schema in the registry (RecordNameStrategy)."""
    return f"jobledger.{event_type}"


class Encoder:
    """Encodes recorded events with the schema ids that the registry gave to our schemas."""

    def __init__(self, ids: Mapping[str, int]) -> None:
        self._frames = {name: FRAME.pack(0, ids[name]) for name in EVENT_TYPES}
        self._schemas = {name: fastavro.parse_schema(record_schema(name)) for name in EVENT_TYPES}

    def encode(self, recorded: Recorded) -> bytes:
        """Return the bytes of one event as they are stored, hashed and sent."""
        name = recorded.header.event_type
        record = msgspec.to_builtins(recorded.header, builtin_types=(bytes,))
        record |= msgspec.to_builtins(recorded.event, builtin_types=(bytes,))
        out = io.BytesIO()
        out.write(self._frames[name])
        fastavro.schemaless_writer(out, self._schemas[name], record)
        return out.getvalue()


class Decoder:
    """Decodes events of every released version into today's types.

    `schema_by_id` asks the registry for a writer's schema and raises UnknownSchema where it knows none.
    Records of types that this version does not know decode to None: skip them, they are facts for others.
    """

    def __init__(self, schema_by_id: SchemaById) -> None:
        self._schema_by_id = schema_by_id
        self._writers: dict[int, tuple[str, Any]] = {}
        self._readers = {name: fastavro.parse_schema(record_schema(name)) for name in EVENT_TYPES}

    def decode(self, data: bytes) -> Recorded | None:
        """Return the event in these bytes, or raise NotAnEvent or UnknownSchema."""
        if len(data) < FRAME.size or data[0] != 0:
            raise NotAnEvent("no Confluent frame: expected a zero byte and a 4-byte schema id")
        _, schema_id = FRAME.unpack_from(data)
        name, writer = self._writers.get(schema_id) or self._learn(schema_id)
        if name not in EVENT_TYPES:
            return None
        try:
            record = fastavro.schemaless_reader(io.BytesIO(data[FRAME.size :]), writer, self._readers[name])
            return Recorded(
                msgspec.convert(record, Header, builtin_types=(bytes,)),
                msgspec.convert(record, EVENT_TYPES[name], builtin_types=(bytes,)),
            )
        except Exception as error:  # fastavro raises whatever the bytes provoke: EOFError, IndexError, ValueError ...
            raise NotAnEvent(f"not a {name} record: {type(error).__name__}") from error

    def _learn(self, schema_id: int) -> tuple[str, Any]:
        writer = self._schema_by_id(schema_id)
        known = (str(writer.get("name", "")).rpartition(".")[2], fastavro.parse_schema(writer))
        self._writers[schema_id] = known
        return known


def event_type_of(headers: list[tuple[str, bytes]] | None) -> str:
    """Read the event type from a record's CloudEvents headers, without decoding; empty: not there."""
    for key, value in headers or ():
        if key == "ce_type":
            return value.decode("ascii", "replace").removeprefix("jobledger.")
    return ""
