"""OpenAPI 3.1 of the operations: one source, next to the handlers, for routing, reading and documentation.

docs/openapi.json is this document; `make check` fails when it is stale.
"""

import re
from collections.abc import Sequence
from types import UnionType
from typing import Any, get_args

import msgspec
from msgspec import Struct

from api import answers
from api.errors import CODES
from api.operation import Operation

VERSION = "1.0.0"
REF = "#/components/schemas/{name}"
JSON = "application/json"
ERRORS_OF_ALL = ("key_in_url", "internal")
HEADERS = {
    "Idempotency-Key": "1 to 255 visible ASCII characters; a repeat with the same key does nothing twice",
    "If-Match": "the `ETag` of what was read: refused where it has changed since; `*`: whatever it is now",
}


def document(operations: Sequence[Operation]) -> dict[str, Any]:
    """Return the OpenAPI document of these operations."""
    types = sorted({shape for operation in operations for shape in _types(operation)}, key=lambda shape: shape.__name__)
    _, schemas = msgspec.json.schema_components([*types, answers.Error], ref_template=REF)
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _operation(operation)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "jobledger",
            "version": VERSION,
            "description": "An event-sourced ledger of extraction jobs.",
        },
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {
            "schemas": {name: schemas[name] for name in sorted(schemas)},
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "jlk_<id>_<secret>"}},
        },
    }


def text(operations: Sequence[Operation]) -> str:
    """Return the document as it is kept in docs/openapi.json."""
    return msgspec.json.format(msgspec.json.encode(document(operations)), indent=2).decode() + "\n"


def _operation(operation: Operation) -> dict[str, Any]:
    described: dict[str, Any] = {
        "operationId": f"{operation.handler.__module__.rpartition('.')[2]}_{operation.handler.__name__}",
        "tags": [operation.path.split("/")[3]],
        "summary": operation.summary,
        "description": (operation.handler.__doc__ or "").strip(),
        "parameters": [*_path_parameters(operation), *_query_parameters(operation), *_header_parameters(operation)],
        "responses": _responses(operation),
        "security": [] if operation.access == "open" else [{"bearer": []}],
    }
    if operation.access != "open":
        described["x-access"] = operation.access
    if operation.body:
        content = {JSON: {"schema": _schema(operation.body)}}
        described["requestBody"] = {"required": not operation.body_optional, "content": content}
    return described


def _responses(operation: Operation) -> dict[str, Any]:
    responses: dict[str, Any] = {}
    for status, shape in operation.answers.items():
        content = {JSON: {"schema": _schema(shape)}} if shape else {"*/*": {}}
        responses[str(status)] = {"description": "Done" if status < 202 else "Accepted", "content": content}
    by_status: dict[int, list[str]] = {}
    for code in dict.fromkeys((*operation.errors, *_implied(operation))):
        by_status.setdefault(CODES[code][0], []).append(code)
    for status, codes in sorted(by_status.items()):
        responses[str(status)] = {
            "description": "; ".join(f"`{code}`: {CODES[code][1]}" for code in codes),
            "content": {JSON: {"schema": _schema(answers.Error)}},
        }
    return responses


def _implied(operation: Operation) -> tuple[str, ...]:
    codes = list(ERRORS_OF_ALL)
    if operation.access != "open":
        codes += ["unauthenticated", "forbidden", "store_unavailable"]
    if operation.body:
        codes += ["invalid_json", "too_large"]
    if operation.body or operation.query or operation.headers:
        codes.append("invalid_field")
    return tuple(codes)


def _path_parameters(operation: Operation) -> list[dict[str, Any]]:
    names = re.findall(r"{(\w+)}", operation.path)
    return [{"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names]


def _query_parameters(operation: Operation) -> list[dict[str, Any]]:
    if operation.query is None:
        return []
    _, schemas = msgspec.json.schema_components([operation.query])
    properties = schemas[operation.query.__name__]["properties"]
    return [{"name": name, "in": "query", "required": False, "schema": schema} for name, schema in properties.items()]


def _header_parameters(operation: Operation) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "header", "description": HEADERS[name], "required": False, "schema": {"type": "string"}}
        for name in operation.headers
    ]


def _schema(shape: Any) -> dict[str, Any]:
    if isinstance(shape, UnionType):
        return {"oneOf": [_schema(one) for one in get_args(shape)]}
    return {"$ref": REF.format(name=shape.__name__)}


def _types(operation: Operation) -> list[type[Struct]]:
    shapes = [*operation.answers.values(), operation.body]
    found = [get_args(shape) if isinstance(shape, UnionType) else (shape,) for shape in shapes if shape is not None]
    return [one for shape in found for one in shape]
