"""How any client finds a Confluent-compatible schema registry, and what such a registry says of a schema."""

import base64
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit

from schemas.codec import UnknownSchema

CONTENT_TYPE = "application/vnd.schemaregistry.v1+json"


def base_and_headers(url: str) -> tuple[str, dict[str, str]]:
    """Return the base URL without credentials, and the headers of a call; ValueError where it is no URL of http(s)."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("takes an http:// or https:// URL")
    headers = {"Accept": CONTENT_TYPE}
    if parts.username:
        user = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        headers["Authorization"] = "Basic " + base64.b64encode(user.encode()).decode()
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2])).rstrip("/"), headers


def avro_schema(base: str, schema_id: int, answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema in the answer to `GET /schemas/ids/<id>`, or raise UnknownSchema where it is none of Avro."""
    if answer.get("schemaType", "AVRO") != "AVRO":
        raise UnknownSchema(f"the registry at {base} knows no Avro schema with id {schema_id}")
    schema: dict[str, Any] = json.loads(answer["schema"])
    return schema
