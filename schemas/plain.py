"""Events as plain values that JSON knows: ids as UUIDs, other bytes in hex, private bytes only where asked for."""

import uuid
from collections.abc import Iterator
from typing import Any

import msgspec

from schemas.private import private_json
from schemas.recorded import Header, Recorded

HEADER_FIELDS = tuple(Header.__struct_fields__)
ID_BYTES = 16


def plain_event(recorded: Recorded, *, private: bool = False) -> dict[str, Any]:
    """Return the fields of an event's Avro record in its order."""
    header = {name: getattr(recorded.header, name) for name in HEADER_FIELDS}
    shown = {name: plain(value) for name, value in header.items()}
    shown["event_id"] = identifier(recorded.header.event_id)
    shown |= {name: plain(value) for name, value in fields(recorded) if name != "private"}
    if private:
        shown["private"] = readable(recorded.event.private)
    return shown


def fields(recorded: Recorded) -> Iterator[tuple[str, Any]]:
    """Yield what an event says beside its header, field by field."""
    for name in recorded.event.__struct_fields__:
        yield name, getattr(recorded.event, name)


def plain(value: object) -> object:
    """Turn what JSON does not know into what it does."""
    match value:
        case bytes():
            return identifier(value) if len(value) == ID_BYTES else value.hex()
        case tuple():
            return [plain(item) for item in value]
        case msgspec.Struct():
            return msgspec.to_builtins(value)
        case _:
            return value


def readable(private: bytes) -> object:
    """Return what private bytes hold where they are plain JSON, else how many bytes there are."""
    if not private:
        return None
    text = private_json(private)
    return f"{len(private)} bytes, encrypted" if text is None else msgspec.json.decode(text)


def identifier(value: bytes) -> str:
    """Return the 16 bytes of an id as a UUID."""
    return str(uuid.UUID(bytes=value))
