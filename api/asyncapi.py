"""AsyncAPI 3.0 of what jobledger sends by itself: the events of the log on Kafka, and the streams of jobs over HTTP.

docs/asyncapi.json is this document, made of the Avro schemas and of the shapes of streams; `make check` fails when it
is stale.
"""

from typing import Any

import msgspec
from msgspec import Struct

from api.openapi import VERSION
from api.stream_answers import MEDIA_TYPE, ClosingMessage, EventMessage, ResetMessage, SnapshotMessage
from schemas.avro_of import record_schema
from schemas.events import EVENT_TYPES

AVRO = "application/vnd.apache.avro+json;version=1.9.0"
SCHEMA_REF = "#/components/schemas/{name}"
SHAPES: dict[str, type[Struct]] = {
    "snapshot": SnapshotMessage,
    "event": EventMessage,
    "done": EventMessage,
    "reset": ResetMessage,
    "close": ClosingMessage,
}
RECORD_HEADERS = {
    "ce_specversion": "1.0",
    "ce_type": "jobledger.<name of the Avro record>: a reader may skip a record without decoding it",
    "ce_id": "id of the event in hex, a UUID of version 7",
    "ce_source": "/jobledger/<partition>",
    "content-type": "application/avro",
    "ledger-position": "position of the event in its partition",
}


def document() -> dict[str, Any]:
    """Return the AsyncAPI document."""
    _, schemas = msgspec.json.schema_components([*dict.fromkeys(SHAPES.values())], ref_template=SCHEMA_REF)
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "jobledger",
            "version": VERSION,
            "description": "What jobledger sends by itself; openapi.json has the calls.",
        },
        "defaultContentType": "application/json",
        "servers": {
            "kafka": {"host": "localhost:9092", "protocol": "kafka", "description": "JOBLEDGER_KAFKA"},
            "api": {
                "host": "localhost:8080",
                "protocol": "http",
                "description": "any API instance",
                "security": [{"$ref": "#/components/securitySchemes/bearer"}],
            },
        },
        "channels": {"events": _events(), "stream": _stream()},
        "operations": {
            "readEvents": _sent("events", "Every event of the ledger, in the order of its partition."),
            "followJob": _sent("stream", "What happens to one job: docs/stream.md."),
        },
        "components": {
            "messages": {
                **{name: _record(name) for name in EVENT_TYPES},
                **{_told(name): _sse(name) for name in SHAPES},
            },
            "schemas": {name: schemas[name] for name in sorted(schemas)},
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "jlk_<id>_<secret>"}},
        },
    }


def text() -> str:
    """Return the document as it is kept in docs/asyncapi.json."""
    return msgspec.json.format(msgspec.json.encode(document()), indent=2).decode() + "\n"


def _events() -> dict[str, Any]:
    return {
        "address": "{prefix}.events",
        "title": "The ledger",
        "description": "One record per event, committed in transactions: read committed ones only, dedupe by position.",
        "servers": [{"$ref": "#/servers/kafka"}],
        "parameters": {"prefix": {"description": "JOBLEDGER_TOPIC_PREFIX", "default": "jobledger"}},
        "messages": _refs(list(EVENT_TYPES)),
        "bindings": {"kafka": {"bindingVersion": "0.5.0"}},
    }


def _stream() -> dict[str, Any]:
    return {
        "address": "/api/v1/jobs/{jobId}/stream",
        "title": "The stream of a job",
        "description": "Server-Sent Events; `Last-Event-ID` goes on behind a position, on any instance.",
        "servers": [{"$ref": "#/servers/api"}],
        "parameters": {"jobId": {"description": "id of a job of the key's org"}},
        "messages": _refs([_told(name) for name in SHAPES]),
    }


def _refs(names: list[str]) -> dict[str, Any]:
    return {name: {"$ref": f"#/components/messages/{name}"} for name in names}


def _sent(channel: str, summary: str) -> dict[str, Any]:
    return {"action": "send", "channel": {"$ref": f"#/channels/{channel}"}, "summary": summary}


def _record(event_type: str) -> dict[str, Any]:
    schema = record_schema(event_type)
    headers = {name: {"type": "string", "description": said} for name, said in RECORD_HEADERS.items()}
    return {
        "name": event_type,
        "summary": schema["doc"],
        "contentType": "application/avro",
        "headers": {"type": "object", "properties": headers},
        "payload": {"schemaFormat": AVRO, "schema": schema},
        "bindings": {
            "kafka": {
                "key": {"type": "string", "description": "id of the org; empty for events about a partition"},
                "schemaIdLocation": "payload",
                "schemaIdPayloadEncoding": "confluent",
                "schemaLookupStrategy": "RecordNameStrategy",
                "bindingVersion": "0.5.0",
            }
        },
    }


def _told(name: str) -> str:
    return f"stream.{name}"


def _sse(name: str) -> dict[str, Any]:
    shape = SHAPES[name]
    return {
        "name": name,
        "summary": (shape.__doc__ or "").strip(),
        "contentType": MEDIA_TYPE,
        "payload": {"$ref": SCHEMA_REF.format(name=shape.__name__)},
    }
