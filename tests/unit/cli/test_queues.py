"""`jobledger org` and `jobledger workflow` against an API that writes down what it is asked."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from typer.testing import CliRunner

from services.cli.__main__ import app

ORG = {
    "orgId": "acme",
    "name": "Acme",
    "plan": "standard",
    "partition": 3,
    "maxInFlight": 5,
    "maxPending": 900,
    "maxQueueSeconds": 0,
    "retentionSeconds": 604800,
    "pausedAt": "2026-11-30T10:00:00.000000Z",
    "createdAt": "2026-11-29T10:00:00.000000Z",
}
Asked = tuple[str, str, str, Any]  # method, path, key, body


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Asked]]:
    """What an API on a real socket is asked; it answers an org or a workflow."""
    calls: list[Asked] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            key = self.headers["Authorization"].removeprefix("Bearer ")
            calls.append((self.command, self.path, key, json.loads(body) if body else None))
            workflow = {"workflowId": "products", "paused": self.path.endswith("/pause")}
            answer = json.dumps(workflow if "workflows" in self.path else ORG).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        do_PATCH = do_POST  # noqa: N815

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    monkeypatch.setenv("JOBLEDGER_API", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("JOBLEDGER_KEY", "jlk_mine")
    monkeypatch.setenv("JOBLEDGER_OPERATOR_KEY", "operators")
    yield calls
    server.shutdown()
    thread.join()
    server.server_close()


def said(*words: str) -> str:
    """Return what the command line prints."""
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    return result.output


def test_an_org_is_paused_and_resumed_with_the_key_of_the_operator(asked: list[Asked]) -> None:
    assert "acme: paused since 2026-11-30" in said("org", "pause", "acme")
    said("org", "resume", "acme")
    assert asked == [
        ("POST", "/api/v1/orgs/acme/pause", "operators", None),
        ("POST", "/api/v1/orgs/acme/resume", "operators", None),
    ]


def test_only_the_limits_that_are_named_are_sent(asked: list[Asked]) -> None:
    assert "900 pending" in said("org", "limit", "acme", "--pending", "900", "--queue-seconds", "0")
    assert asked == [("PATCH", "/api/v1/orgs/acme", "operators", {"maxPending": 900, "maxQueueSeconds": 0})]
    assert CliRunner().invoke(app, ["org", "limit", "acme"]).exit_code != 0
    assert len(asked) == 1


def test_a_workflow_is_paused_and_resumed_with_the_key_of_its_org(asked: list[Asked]) -> None:
    assert said("workflow", "pause", "products") == "products: paused, what runs goes on\n"
    assert json.loads(said("workflow", "resume", "products", "--json")) == {"workflowId": "products", "paused": False}
    assert [call[1:3] for call in asked] == [
        ("/api/v1/workflows/products/pause", "jlk_mine"),
        ("/api/v1/workflows/products/resume", "jlk_mine"),
    ]
