"""AsyncAPI 3.0 of what jobledger sends by itself: the events of the log on Kafka, and the streams of jobs over HTTP.

docs/asyncapi.json is this document, made of the Avro schemas and of the shapes of streams; `make check` fails when it
is stale.
"""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from api.asyncapi_records import (
    BINDING,
    DEAD_LETTER,
    dead_letter_message,
    dead_letters_channel,
    event_message,
    events_channel,
)
from api.modules.stream_answers import EndMessage, ErrorMessage, LogMessage, StatusMessage
from api.openapi import VERSION
from api.stream_answers import MEDIA_TYPE, ClosingMessage, EventMessage, ResetMessage, SnapshotMessage
from schemas.events import EVENT_TYPES

SCHEMA_REF = "#/components/schemas/{name}"
SHAPES: dict[str, type[Struct]] = {
    "snapshot": SnapshotMessage,
    "event": EventMessage,
    "done": EventMessage,
    "reset": ResetMessage,
    "close": ClosingMessage,
}
MODULE_SHAPES: dict[str, type[Struct]] = {
    "status": StatusMessage,
    "log": LogMessage,
    "done": EndMessage,
    "error": ErrorMessage,
}


def document() -> dict[str, Any]:
    """Return the AsyncAPI document."""
    _, schemas = msgspec.json.schema_components(
        [*dict.fromkeys([*SHAPES.values(), *MODULE_SHAPES.values()])], ref_template=SCHEMA_REF
    )
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "jobledger",
            "version": VERSION,
            "description": "What jobledger sends by itself; openapi.json has the calls.",
        },
        "defaultContentType": "application/json",
        "servers": {
            "kafka": {
                "host": "localhost:9092",
                "protocol": "kafka",
                "description": "JOBLEDGER_KAFKA, with the registry JOBLEDGER_REGISTRY (docs/consumers.md)",
                "bindings": {
                    "kafka": {
                        "schemaRegistryUrl": "http://localhost:8081",
                        "schemaRegistryVendor": "confluent",
                        "bindingVersion": BINDING,
                    }
                },
            },
            "api": {
                "host": "localhost:8080",
                "protocol": "http",
                "description": "any API instance",
                "security": [{"$ref": "#/components/securitySchemes/bearer"}],
            },
        },
        "channels": {
            "events": events_channel(),
            "stream": _stream("/api/v1/jobs/{jobId}/stream", "The stream of a job", "stream", SHAPES),
            "moduleStream": _stream(
                "/api/jobs/{jobId}/stream", "The stream of a module job", "moduleStream", MODULE_SHAPES
            ),
            "deadLetters": dead_letters_channel(),
        },
        "operations": {
            "readEvents": _sent("events", "Every event of the ledger, in the order of its partition."),
            "readDeadLetters": _sent("deadLetters", "Every record that could not be used: docs/dead_letters.md."),
            "followJob": _sent("stream", "What happens to one job: docs/stream.md."),
            "followModuleJob": _sent("moduleStream", "How far one module job has come: docs/stream.md."),
        },
        "components": {
            "messages": {
                **{name: event_message(name) for name in EVENT_TYPES},
                DEAD_LETTER: dead_letter_message(),
                **{f"stream.{name}": _sse(name, shape) for name, shape in SHAPES.items()},
                **{f"moduleStream.{name}": _sse(name, shape) for name, shape in MODULE_SHAPES.items()},
            },
            "schemas": {name: schemas[name] for name in sorted(schemas)},
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "jlk_<id>_<secret>"}},
        },
    }


def text() -> str:
    """Return the document as it is kept in docs/asyncapi.json."""
    return msgspec.json.format(msgspec.json.encode(document()), indent=2).decode() + "\n"


def _stream(address: str, title: str, channel: str, shapes: Mapping[str, type[Struct]]) -> dict[str, Any]:
    return {
        "address": address,
        "title": title,
        "description": "Server-Sent Events; `Last-Event-ID` goes on behind a position, on any instance.",
        "servers": [{"$ref": "#/servers/api"}],
        "parameters": {"jobId": {"description": "id of a job of the key's org"}},
        "messages": _refs([f"{channel}.{name}" for name in shapes]),
    }


def _refs(names: list[str]) -> dict[str, Any]:
    return {name: {"$ref": f"#/components/messages/{name}"} for name in names}


def _sent(channel: str, summary: str) -> dict[str, Any]:
    return {"action": "send", "channel": {"$ref": f"#/channels/{channel}"}, "summary": summary}


def _sse(name: str, shape: type[Struct]) -> dict[str, Any]:
    return {
        "name": name,
        "summary": (shape.__doc__ or "").strip(),
        "contentType": MEDIA_TYPE,
        "payload": {"$ref": SCHEMA_REF.format(name=shape.__name__)},
    }
