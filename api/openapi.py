"""OpenAPI 3.1 of the operations: one source, next to the handlers, for routing, reading and documentation.

docs/openapi.json is this document; `make check` fails when it is stale.
"""

import re
from collections.abc import Sequence
from types import UnionType
from typing import Any, get_args

import msgspec
from msgspec import Struct

from api import answers, positions
from api.errors import CODES
from api.modules.answers import ModuleError
from api.modules.problems import about_modules
from api.operation import Operation
from api.rules import RULES
from api.spiders.frame import PREFIX, about_spiders, served_at

VERSION = "1.0.0"
REF = "#/components/schemas/{name}"
JSON = "application/json"
NO_CONTENT = (204, 304)
DESCRIPTIONS = {202: "Accepted", 204: "Nothing to send", 304: "As before"}
ERRORS_OF_ALL = ("key_in_url", "invalid_field", "internal")  # a query parameter that the call does not take is refused
POSITION = {"type": "string", "pattern": r"^\d{1,9}:\d{1,18}$"}
MIN_POSITION = {
    "name": positions.QUERY,
    "in": "query",
    "description": "answer no earlier than as of this position, a `Ledger-Position` that was answered; 503 in vain",
    "required": False,
    "schema": POSITION,
}
HEADERS = {
    "Idempotency-Key": "1 to 255 visible ASCII characters; a repeat with the same key does nothing twice",
    "Last-Event-ID": "go on behind this position, `partition:position`: the `id` of the last event that came",
    positions.HEADER: "as the parameter `min_position`",
    "If-None-Match": "the `ETag` of an earlier answer: 304 without a body where nothing has changed since",
    "If-Match": "the `ETag` of what was read: refused where it has changed since; `*`: whatever it is now",
}
FORMS = {
    "Idempotency-Key": {"pattern": "^[!-~]{1,255}$"},
    "If-Match": {"pattern": r'^(\*|"[!#-~]*"(, "[!#-~]*")*)$'},
    positions.HEADER: POSITION,
}


def document(operations: Sequence[Operation], spider_prefix: str = PREFIX) -> dict[str, Any]:
    """Return the OpenAPI document of these operations, those about spiders where they are served."""
    types = sorted({shape for operation in operations for shape in _types(operation)}, key=lambda shape: shape.__name__)
    _, schemas = msgspec.json.schema_components([*types, answers.Error, ModuleError], ref_template=REF)
    for name in RULES.keys() & schemas.keys():
        schemas[name] |= RULES[name]
    paths: dict[str, dict[str, Any]] = {}
    for operation in operations:
        paths.setdefault(served_at(operation.path, spider_prefix), {})[operation.method.lower()] = _operation(operation)
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
        "tags": [_tag(operation.path)],
        "summary": operation.summary,
        "description": (operation.handler.__doc__ or "").strip(),
        "parameters": [*_path_parameters(operation), *_query_parameters(operation), *_header_parameters(operation)],
        "responses": _responses(operation),
        "security": [] if operation.access == "open" else [{"bearer": []}],
    }
    if operation.access != "open":
        described["x-access"] = operation.access
    if operation.operator_too:
        described["x-operator-too"] = True
    if operation.body:
        content = {operation.form or JSON: {"schema": _schema(operation.body)}}
        described["requestBody"] = {"required": not operation.body_optional, "content": content}
    return described


def _tag(path: str) -> str:
    if about_spiders(path):
        return "spiders"
    return "modules" if about_modules(path) else path.split("/")[3]


def _responses(operation: Operation) -> dict[str, Any]:
    responses: dict[str, Any] = {}
    for status, shape in operation.answers.items():
        content = {operation.media_type: {"schema": _schema(shape)}} if shape else {"*/*": {}}
        said = {"description": DESCRIPTIONS.get(status, "Done"), "content": content, **_answered_headers(operation)}
        if status in NO_CONTENT:
            del said["content"]
        responses[str(status)] = said
    detailed = about_modules(operation.path) or about_spiders(operation.path)
    error = ModuleError if detailed else answers.Error
    by_status: dict[int, list[str]] = {}
    for code in dict.fromkeys((*operation.errors, *_implied(operation))):
        by_status.setdefault(CODES[code][0], []).append(code)
    for status, codes in sorted(by_status.items()):
        responses[str(status)] = {
            "description": "; ".join(f"`{code}`: {CODES[code][1]}" for code in codes),
            "content": {JSON: {"schema": _schema(error)}},
        }
    return responses


def _implied(operation: Operation) -> tuple[str, ...]:
    codes = list(ERRORS_OF_ALL)
    if operation.access != "open":
        codes += ["unauthenticated", "forbidden", "rate_limited", "store_unavailable"]
    if operation.positioned:
        codes += ["invalid_position", "position_not_reached"]
    if operation.body and not operation.form:
        codes += ["invalid_json", "too_large"]
    return tuple(codes)


def _path_parameters(operation: Operation) -> list[dict[str, Any]]:
    names = re.findall(r"{(\w+)}", operation.path)
    return [{"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names]


def _answered_headers(operation: Operation) -> dict[str, Any]:
    if not operation.positioned or operation.media_type != JSON:
        return {}
    said = "the read model was folded up to here at least, or to the last event of the one job that is answered"
    return {"headers": {"Ledger-Position": {"description": said, "schema": POSITION}}}


def _query_parameters(operation: Operation) -> list[dict[str, Any]]:
    waits = [MIN_POSITION] if operation.positioned else []
    return [*_own_query(operation), *waits]


def _own_query(operation: Operation) -> list[dict[str, Any]]:
    if operation.query is None:
        return []
    _, schemas = msgspec.json.schema_components([operation.query])
    described = schemas[operation.query.__name__]
    needed = described.get("required", ())
    return [
        {"name": name, "in": "query", "required": name in needed, "schema": schema}
        for name, schema in described["properties"].items()
    ]


def _header_parameters(operation: Operation) -> list[dict[str, Any]]:
    waits = (positions.HEADER,) if operation.positioned else ()
    return [
        {
            "name": name,
            "in": "header",
            "description": HEADERS[name],
            "required": name == "If-Match" and "if_match_missing" in operation.errors,
            "schema": {"type": "string", **FORMS.get(name, {})},
        }
        for name in (*operation.headers, *waits)
    ]


def _schema(shape: Any) -> dict[str, Any]:
    if isinstance(shape, UnionType):
        return {"oneOf": [_schema(one) for one in get_args(shape)]}
    return {"$ref": REF.format(name=shape.__name__)}


def _types(operation: Operation) -> list[type[Struct]]:
    shapes = [*operation.answers.values(), operation.body]
    found = [get_args(shape) if isinstance(shape, UnionType) else (shape,) for shape in shapes if shape is not None]
    return [one for shape in found for one in shape]
