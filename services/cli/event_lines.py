"""Events of the ledger as lines: for people, and as JSON for programs. Private bytes are left out unless asked for."""

import uuid
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

import msgspec

from schemas.events import Header, Recorded
from schemas.private import private_json

NOT_SHOWN = frozenset({"org_id", "job_id", "attempt", "private"})  # shown elsewhere in the line, or not at all
HEADER_FIELDS = tuple(Header.__struct_fields__)


def event_line(recorded: Recorded, *, private: bool = False) -> str:
    """Write an event as one line: when, where in the log, what, about whom, then the fields that say something."""
    header, event = recorded.header, recorded.event
    moment = datetime.fromtimestamp(header.occurred_at / 1_000_000, UTC).strftime("%H:%M:%S.%f")
    place = f"{header.partition}:{header.position}"
    subject = " ".join(part for part in (event.org_id, event.job_id) if part) or "-"
    said = [f"{name}={_short(value)}" for name, value in _fields(recorded) if name not in NOT_SHOWN and value]
    if private and event.private:
        said.append(f"private={_short(readable(event.private))}")
    return " ".join((moment, f"{place:>9}", f"{header.event_type:<18}", subject, *said))


def event_json(recorded: Recorded, *, private: bool = False) -> dict[str, Any]:
    """Return the fields of an event's Avro record in its order; ids as UUIDs, other bytes in hex."""
    header = {name: getattr(recorded.header, name) for name in HEADER_FIELDS}
    shown = {name: _plain(value) for name, value in header.items()}
    shown["event_id"] = _identifier(recorded.header.event_id)
    shown |= {name: _plain(value) for name, value in _fields(recorded) if name != "private"}
    if private:
        shown["private"] = readable(recorded.event.private)
    return shown


def readable(private: bytes) -> object:
    """Return what private bytes hold where they are plain JSON, else how many bytes there are."""
    if not private:
        return None
    text = private_json(private)
    return f"{len(private)} bytes, encrypted" if text is None else msgspec.json.decode(text)


def in_order(events: Iterable[Recorded]) -> list[Recorded]:
    """Return events of several partitions in the order of their times; those of a partition keep theirs."""
    return sorted(events, key=lambda recorded: (recorded.header.occurred_at, recorded.header.partition))


def _fields(recorded: Recorded) -> Iterator[tuple[str, Any]]:
    for name in recorded.event.__struct_fields__:
        yield name, getattr(recorded.event, name)


def _plain(value: object) -> object:
    """Turn what JSON does not know into what it does."""
    match value:
        case bytes():
            return _identifier(value) if len(value) == 16 else value.hex()
        case tuple():
            return [_plain(item) for item in value]
        case msgspec.Struct():
            return msgspec.to_builtins(value)
        case _:
            return value


def _short(value: object) -> str:
    plain = _plain(value)
    return plain if isinstance(plain, str) else msgspec.json.encode(plain).decode()


def _identifier(value: bytes) -> str:
    return str(uuid.UUID(bytes=value))
