"""The topics that others may read, as AsyncAPI describes them: events, each with an example, and dead letters."""

import base64
import io
from typing import Any

import fastavro
import msgspec

from schemas.avro_of import record_schema
from schemas.checksum import CHECKSUM_HEADER, checksum_of
from schemas.codec import FRAME, Encoder
from schemas.events import EVENT_TYPES
from schemas.examples import example
from schemas.recorded import Recorded

AVRO = "application/vnd.apache.avro+json;version=1.9.0"
BINDING = "0.5.0"  # version of the Kafka bindings
DEAD_LETTER = "DeadLetter"
PREFIX = {"prefix": {"description": "JOBLEDGER_TOPIC_PREFIX", "default": "jobledger"}}
ENCODER = Encoder(dict.fromkeys(EVENT_TYPES, 0))
CHECKSUM_SAID = (
    "CRC-32 of `<partition>\n<position>\n<ce_type>\n<key>\n<value>`, in hex; events of earlier versions have none, and "
    "that of the example is with schema id 0 (docs/consumers.md)"
)


def events_channel() -> dict[str, Any]:
    """Return the topic of events."""
    return {
        "address": "{prefix}.events",
        "title": "The ledger",
        "description": "One record per event, committed in transactions: read committed ones only, dedupe by position. "
        "All events of an org are on one partition, in order: CRC-32 of the org id modulo the number of partitions, "
        "unless the operator named another (docs/consumers.md). Records that are no event for the place where they lie "
        "are to be left out.",
        "servers": [{"$ref": "#/servers/kafka"}],
        "parameters": PREFIX,
        "messages": {name: {"$ref": f"#/components/messages/{name}"} for name in EVENT_TYPES},
        "bindings": _kept_for_ever(),
    }


def dead_letters_channel() -> dict[str, Any]:
    """Return the topic of dead letters."""
    return {
        "address": "{prefix}.dead-letters",
        "title": "Dead letters",
        "description": "Records that could not be used, with the reason and where they lay (docs/dead_letters.md).",
        "servers": [{"$ref": "#/servers/kafka"}],
        "parameters": PREFIX,
        "messages": {DEAD_LETTER: {"$ref": f"#/components/messages/{DEAD_LETTER}"}},
        "bindings": _kept_for_ever(),
    }


def event_message(event_type: str) -> dict[str, Any]:
    """Return the record of an event type: its schema, and an example in Avro's JSON encoding and in its bytes."""
    schema, recorded = record_schema(event_type), example(event_type)
    header = recorded.header
    headers = {
        "ce_specversion": _header("version of CloudEvents", const="1.0"),
        "ce_type": _header("a reader may skip a record by it without decoding", const=f"jobledger.{event_type}"),
        "ce_id": _header("id of the event in hex, a UUID of version 7", pattern="^[0-9a-f]{32}$"),
        "ce_source": _header("/jobledger/<partition>", pattern="^/jobledger/[0-9]+$"),
        "content-type": _header("of the value", const="application/avro"),
        "ledger-position": _header("position of the event in its partition", pattern="^[1-9][0-9]*$"),
        CHECKSUM_HEADER: _header(CHECKSUM_SAID, pattern="^[0-9a-f]{8}$"),
    }
    encoded, ce_type = ENCODER.encode(recorded), f"jobledger.{event_type}"
    checksum = checksum_of(header.partition, header.position, ce_type.encode(), recorded.event.org_id.encode(), encoded)
    sent = {
        "ce_specversion": "1.0",
        "ce_type": ce_type,
        "ce_id": header.event_id.hex(),
        "ce_source": f"/jobledger/{header.partition}",
        "content-type": "application/avro",
        "ledger-position": str(header.position),
        CHECKSUM_HEADER: checksum.decode(),
    }
    key = {"type": "string", "description": "id of the org in UTF-8; empty for events about a partition"}
    return {
        "name": event_type,
        "summary": schema["doc"],
        "contentType": "application/avro",
        "headers": {
            "type": "object",
            "required": [name for name in headers if name != CHECKSUM_HEADER],
            "properties": headers,
        },
        "payload": {"schemaFormat": AVRO, "schema": schema},
        "bindings": {
            "kafka": {
                "key": key | {"examples": [recorded.event.org_id]},
                "schemaIdLocation": "payload",
                "schemaIdPayloadEncoding": "confluent",
                "schemaLookupStrategy": "RecordNameStrategy",
                "bindingVersion": BINDING,
            }
        },
        "examples": [{"name": event_type, "headers": sent, "payload": avro_json(recorded)}],
        "x-example-avro-base64": base64.b64encode(encoded[FRAME.size :]).decode(),
        "x-wire-format": "a zero byte, the schema id in 4 bytes (big-endian), then the Avro body",
    }


def avro_json(recorded: Recorded) -> Any:
    """Return an event in Avro's JSON encoding: bytes are texts of the characters 0 to 255."""
    schema = record_schema(recorded.header.event_type)
    record = msgspec.to_builtins(recorded.header, builtin_types=(bytes,))
    record |= msgspec.to_builtins(recorded.event, builtin_types=(bytes,))
    out = io.StringIO()
    fastavro.json_writer(out, fastavro.parse_schema(schema), [record])
    return msgspec.json.decode(out.getvalue())


def dead_letter_message() -> dict[str, Any]:
    """Return the record of a dead letter."""
    number = {"pattern": "^[0-9]+$"}
    headers = {
        "origin-topic": _header("where the record lay"),
        "origin-partition": _header("where the record lay", **number),
        "origin-offset": _header("where the record lay", **number),
        "origin-timestamp-ms": _header("its time, in milliseconds since 1970-01-01 UTC"),
        "origin-bytes": _header("size of its value; larger than the value here: that was cut", **number),
        "sha256": _header("of its whole value, in hex", pattern="^[0-9a-f]{64}$"),
        "reason": _header("one of the reasons in docs/errors.md"),
        "detail": _header("what was wrong, for people"),
    }
    optional = {
        "origin-ce_type": _header("the record's own, where it had one"),
        "origin-redriven-from": _header("of a record that had been put back: where its letter lies"),
    }
    return {
        "name": DEAD_LETTER,
        "summary": "A record that could not be used, as it was; a value beyond 900 KiB is cut.",
        "contentType": "application/octet-stream",
        "headers": {"type": "object", "required": list(headers), "properties": headers | optional},
        "bindings": {
            "kafka": {"key": {"type": "string", "description": "the record's own"}, "bindingVersion": BINDING}
        },
    }


def _header(said: str, **more: str) -> dict[str, str]:
    return {"type": "string", "description": said, **more}


def _kept_for_ever() -> dict[str, Any]:
    kept = {"cleanup.policy": ["delete"], "retention.ms": -1}
    return {"kafka": {"topicConfiguration": kept, "bindingVersion": BINDING}}
