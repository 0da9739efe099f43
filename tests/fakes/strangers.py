"""Records of the topic of events that are no events of the ledger, each wrong in another way."""

import struct
from collections.abc import Mapping
from typing import Any

import msgspec

from schemas.avro_of import record_schema
from schemas.codec import UnknownSchema
from schemas.events import OrgRegistered
from schemas.record import Headers, Record
from tests.fakes.records import NAMES, event_record

OTHERS, ABSENT, NO_SCHEMA = 90, 91, 92  # ids of schemas
UNFRAMED = (b"", b"\xff\x00\xfe", b"\x00", b"\x00\x00\x00\x00\x01", b'{"a": 1}', b"\x01" * 1_000_000)


def schema_of(schema_id: int) -> Any:
    if schema_id == ABSENT:
        raise UnknownSchema(f"no schema {schema_id}")
    if schema_id == NO_SCHEMA:
        return "string"
    return {**record_schema("WriterOpened"), "namespace": "acme"} if schema_id == OTHERS else schema_of_ours(schema_id)


def schema_of_ours(schema_id: int) -> dict[str, Any]:
    return record_schema(NAMES[schema_id])


def org(position: int, **more: Any) -> Record:
    return event_record(position, OrgRegistered(org_id="acme", name="Acme"), **more)


def framed(record: Record, schema_id: int) -> bytes:
    return struct.pack(">bI", 0, schema_id) + record.value[5:]


def junk_for(position: int) -> dict[str, Record]:
    """Return what is no event for this position, by what is wrong with it; most of it says that it is for there."""
    good, alter = org(position), msgspec.structs.replace
    headers: Mapping[str, Headers] = {
        "none": [],
        "below zero": [("ledger-position", b"-1")],
        "no number": [("ledger-position", b"one")],
        "endless": [("ledger-position", b"9" * 5000)],
        "of a fence": [("ledger-position", b"0")],
        "of the one behind": [("ledger-position", b"%d" % (position + 1))],
        "of one far away": [("ledger-position", b"%d" % (position + 1000))],
    }
    unmarked = [header for header in good.headers if header[0] != "ce_id"]
    return {
        **{f"unframed {number}": alter(good, value=value) for number, value in enumerate(UNFRAMED)},
        **{f"position header {name}": alter(good, headers=given) for name, given in headers.items()},
        "empty without a position": alter(good, value=b"", headers=[]),
        "cut short": alter(good, value=good.value[:-1]),
        "with bytes behind it": alter(good, value=good.value + b"\0"),
        "of an unknown schema": alter(good, value=framed(good, ABSENT), headers=unmarked),
        "of another schema": alter(good, value=framed(good, OTHERS), headers=unmarked),
        "of no record schema": alter(good, value=framed(good, NO_SCHEMA), headers=unmarked),
        "of another partition": alter(org(position, partition=1), partition=0),
        "of another org": alter(good, key="somebody-else"),
        "without a key": alter(good, key=""),
        "an old one with a new header": alter(org(1), headers=good.headers)
        if position > 1
        else alter(good, value=b"x"),
    }


KINDS = sorted(junk_for(2))
