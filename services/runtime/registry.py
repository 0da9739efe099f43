"""The schema registry: registers our event schemas and looks up those of any writer.

Beside `schemas/client/registry.py` on purpose: a process of ours waits for a registry that restarts and says what to
start, a consumer elsewhere hears at once that it is away and waits in its own way. Both know `schemas/registry.py`.
"""

import json
import time
import urllib.error
import urllib.request
from typing import Any
from urllib.parse import quote

from schemas.avro_of import record_schema
from schemas.codec import Decoder, Encoder, UnknownSchema, subject_of
from schemas.events import EVENT_TYPES
from schemas.registry import CONTENT_TYPE, avro_schema, base_and_headers
from services.runtime.errors import RegistryAway, RegistryFault, SettingsError
from services.runtime.settings import Settings

REQUEST_SECONDS = 5.0
PATIENCE_SECONDS = 15.0  # a registry that restarts is back within this time
PAUSE_SECONDS = 0.2
COMPATIBILITY = "FULL_TRANSITIVE"


class Registry:
    """A Confluent-compatible schema registry by its base URL, which may carry user:password."""

    def __init__(self, url: str) -> None:
        try:
            self._base, headers = base_and_headers(url)
        except ValueError as error:
            raise SettingsError(f"JOBLEDGER_REGISTRY {error}") from None
        self._headers = headers | {"Content-Type": CONTENT_TYPE}

    def register(self, subject: str, schema: dict[str, Any]) -> int:
        """Return the id of a schema under a subject whose versions must all be compatible both ways."""
        place = quote(subject, safe="")
        self._call("PUT", f"/config/{place}", {"compatibility": COMPATIBILITY})
        answer = self._call("POST", f"/subjects/{place}/versions", {"schema": json.dumps(schema), "schemaType": "AVRO"})
        return int(answer["id"])

    def schema(self, schema_id: int) -> dict[str, Any]:
        """Return the schema that has this id, or raise UnknownSchema."""
        try:
            answer = self._call("GET", f"/schemas/ids/{schema_id}")
        except _NotFound:
            raise UnknownSchema(f"the registry at {self._base} knows no schema with id {schema_id}") from None
        return avro_schema(self._base, schema_id, answer)

    def _call(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """Call the registry, again for a while where it does not answer or answers that it cannot right now."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                return self._once(method, path, body)
            except urllib.error.HTTPError as error:
                fault = self._refusal(method, path, error)
                if error.code < 500:
                    raise fault from None
            except (OSError, TimeoutError) as error:
                fault = RegistryAway(
                    f"no schema registry answers at {self._base} ({error}): start it with `jobledger up`, "
                    "or correct JOBLEDGER_REGISTRY"
                )
            if time.monotonic() >= deadline:
                raise fault
            time.sleep(PAUSE_SECONDS)

    def _once(self, method: str, path: str, body: dict[str, Any] | None) -> dict[str, Any]:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self._base + path, data, self._headers, method=method)  # noqa: S310  # http(s)
        with urllib.request.urlopen(request, timeout=REQUEST_SECONDS) as response:  # noqa: S310
            answer: dict[str, Any] = json.load(response)
            return answer

    def _refusal(self, method: str, path: str, error: urllib.error.HTTPError) -> RegistryFault:
        with error:
            said = error.read(2000).decode("utf-8", "replace")
        if error.code == 404:
            return _NotFound(f"{method} {path}: not found")
        if error.code == 409:
            return RegistryFault(f"{path}: not compatible with a released version: {said}; change the event class back")
        kind = RegistryFault if error.code < 500 else RegistryAway
        return kind(f"the schema registry refused {method} {path} with {error.code}: {said}")


class _NotFound(RegistryFault):
    """The registry answered 404."""


def register_schemas(settings: Settings) -> dict[str, int]:
    """Register every event schema and return schema ids by event type; safe to repeat."""
    registry = Registry(settings.registry)
    return {name: registry.register(subject_of(name), record_schema(name)) for name in EVENT_TYPES}


def encoder(settings: Settings) -> Encoder:
    """Return an encoder of events whose schemas are registered."""
    return Encoder(register_schemas(settings))


def decoder(settings: Settings) -> Decoder:
    """Return a decoder that asks the registry once for each writer's schema."""
    return Decoder(Registry(settings.registry).schema)
