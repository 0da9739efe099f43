"""The published JSON Schema of workflow documents, made from the types that read them."""

from typing import Any

import msgspec

from services.ledger.workflow import Workflow

SCHEMA_ID = "urn:jobledger:workflow"
DIALECT = "https://json-schema.org/draft/2020-12/schema"


def workflow_schema() -> dict[str, Any]:
    """Return the schema: what it takes, the reader takes, as far as structure goes; see docs/workflows.md."""
    _, parts = msgspec.json.schema_components([Workflow], ref_template="#/$defs/{name}")
    whole = parts.pop("Workflow")
    schema: dict[str, Any] = _plain({"$schema": DIALECT, "$id": SCHEMA_ID, **whole, "$defs": parts})
    return schema


def schema_text() -> str:
    """Return the schema as it is kept in docs/workflow.schema.json."""
    return msgspec.json.format(msgspec.json.encode(workflow_schema()), indent=2).decode() + "\n"


def _plain(value: Any) -> Any:
    """Take out OpenAPI's `discriminator`, which strict validators of JSON Schema refuse to know."""
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items() if name != "discriminator"}
    return [_plain(each) for each in value] if isinstance(value, list) else value
