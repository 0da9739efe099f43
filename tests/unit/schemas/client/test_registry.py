"""The client's lookup in a registry: what it asks, and which answers mean that it cannot be told now."""

import base64
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

from schemas.client.errors import RegistryAway
from schemas.client.reader import EventReader, note
from schemas.client.registry import registry_at
from schemas.codec import UnknownSchema
from schemas.events import EVENT_TYPES
from tests.fakes.source import InMemorySource
from tests.fakes.strangers import org, schema_of


@contextmanager
def answering(port: int = 0, status: int = 200, body: bytes | None = None) -> Iterator[tuple[str, list[Any]]]:
    """Answer every question for a schema, with the schemas of these tests unless told otherwise."""
    asked: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append((self.path, self.headers.get("Authorization")))
            schema = schema_of(int(self.path.rpartition("/")[2]))
            self.send_response(status)
            self.end_headers()
            self.wfile.write(json.dumps({"schema": json.dumps(schema)}).encode() if body is None else body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", port), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_it_asks_by_id_with_the_user_of_the_url_and_keeps_the_password_to_itself() -> None:
    with answering() as (url, asked):
        found = registry_at(url.replace("//", "//me:p%40ss@") + "/")(4)
    assert found == schema_of(4)
    assert asked == [("/schemas/ids/4", "Basic " + base64.b64encode(b"me:p@ss").decode())]
    with pytest.raises(RegistryAway) as away:
        registry_at(url.replace("//", "//me:p%40ss@"))(4)
    assert "p@ss" not in str(away.value)
    assert "p%40ss" not in str(away.value)


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (404, b'{"error_code": 40403}', UnknownSchema),
        (200, b'{"schemaType": "PROTOBUF", "schema": "x"}', UnknownSchema),
        (503, b"", RegistryAway),
        (401, b"", RegistryAway),
        (200, b"<html>a proxy", RegistryAway),
        (200, b"[]", RegistryAway),
        (200, b"{}", RegistryAway),
        (200, b'{"schema": "not json"}', RegistryAway),
    ],
)
def test_what_it_is_answered_is_no_such_schema_or_not_now(status: int, body: bytes, error: type[Exception]) -> None:
    with answering(status=status, body=body) as (url, _), pytest.raises(error):
        registry_at(url)(4)


@pytest.mark.parametrize("url", ["", "127.0.0.1:8081", "file:///etc/passwd", "http://"])
def test_a_url_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="http:// or https://"):
        registry_at(url)


def test_a_registry_that_comes_after_its_consumers_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    with answering() as (url, _):
        port = int(url.rpartition(":")[2])
    monkeypatch.setattr("schemas.client.reader.PAUSE_SECONDS", 0.01)
    reader = EventReader(InMemorySource([org(1)]), registry_at(url), EVENT_TYPES, note)
    with pytest.raises(RegistryAway, match="no schema registry answers"):
        reader.poll(10, 0)
    with answering(port) as (_, asked):
        batch = next(iter(reader))
    assert [each.place for each in batch.events] == ["0:1"]
    assert len(asked) == 1
