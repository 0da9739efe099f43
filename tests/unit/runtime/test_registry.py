"""The registry client: what it asks, what it waits out, what it says."""

import base64
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from schemas.codec import UnknownSchema
from services.runtime import registry
from services.runtime.errors import RegistryFault, SettingsError
from services.runtime.registry import Registry

Answer = tuple[int, object]


class Scripted:
    """An HTTP server that answers with the next of `answers` and keeps what it was asked."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.asked: list[tuple[str, str, object, str]] = []
        script = self

        class Handler(BaseHTTPRequestHandler):
            def _answer(self) -> None:
                size = int(self.headers.get("Content-Length", 0))
                body = json.loads(self.rfile.read(size)) if size else None
                script.asked.append((self.command, self.path, body, self.headers.get("Authorization", "")))
                status, answer = script.answers.pop(0)
                self.send_response(status)
                self.end_headers()
                self.wfile.write(json.dumps(answer).encode())

            do_GET = do_PUT = do_POST = _answer  # noqa: N815

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"127.0.0.1:{self.server.server_port}"


@pytest.fixture
def scripted() -> Iterator[Scripted]:
    script = Scripted()
    thread = threading.Thread(target=script.server.serve_forever, args=(0.01,))
    thread.start()
    yield script
    script.server.shutdown()
    script.server.server_close()
    thread.join()


def test_registering_sets_the_compatibility_of_the_subject_first(scripted: Scripted) -> None:
    scripted.answers = [(200, {"compatibility": "FULL_TRANSITIVE"}), (200, {"id": 12})]
    assert Registry(f"http://{scripted.address}/").register("jobledger.JobClaimed", {"type": "string"}) == 12
    [config, version] = scripted.asked
    assert config[:3] == ("PUT", "/config/jobledger.JobClaimed", {"compatibility": "FULL_TRANSITIVE"})
    assert version[:2] == ("POST", "/subjects/jobledger.JobClaimed/versions")
    assert version[2] == {"schema": '{"type": "string"}', "schemaType": "AVRO"}


def test_user_and_password_of_the_url_become_a_header(scripted: Scripted) -> None:
    scripted.answers = [(200, {"schema": '"string"'})]
    Registry(f"http://me:p%40ss@{scripted.address}").schema(3)
    assert scripted.asked[0][3] == "Basic " + base64.b64encode(b"me:p@ss").decode()


def test_an_unknown_id_is_an_unknown_schema(scripted: Scripted) -> None:
    scripted.answers = [(404, {"error_code": 40403})]
    with pytest.raises(UnknownSchema, match="id 9"):
        Registry(f"http://{scripted.address}").schema(9)


def test_an_incompatible_schema_is_a_fault_that_repeats_what_the_registry_said(scripted: Scripted) -> None:
    scripted.answers = [(200, {}), (409, {"message": "field `a` has no default"})]
    with pytest.raises(RegistryFault, match="field `a` has no default"):
        Registry(f"http://{scripted.address}").register("jobledger.JobClaimed", {"type": "string"})


def test_a_registry_that_cannot_right_now_is_asked_again(scripted: Scripted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "PAUSE_SECONDS", 0.01)
    scripted.answers = [(503, {}), (500, {}), (200, {"schema": '{"type": "record"}'})]
    assert Registry(f"http://{scripted.address}").schema(1) == {"type": "record"}


def test_a_registry_that_is_not_there_is_a_fault_that_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "PATIENCE_SECONDS", 0.05)
    monkeypatch.setattr(registry, "PAUSE_SECONDS", 0.01)
    with pytest.raises(RegistryFault, match="jobledger up"):
        Registry("http://me:secret@127.0.0.1:9").schema(1)


@pytest.mark.parametrize("url", ["", "127.0.0.1:8081", "file:///etc/passwd", "http://"])
def test_a_url_that_is_none_is_a_settings_error(url: str) -> None:
    with pytest.raises(SettingsError, match="JOBLEDGER_REGISTRY"):
        Registry(url)


def test_faults_never_show_the_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "PATIENCE_SECONDS", 0.0)
    fail: Callable[[], object] = lambda: Registry("http://me:secret@127.0.0.1:9").schema(1)  # noqa: E731
    with pytest.raises(RegistryFault) as fault:
        fail()
    assert "secret" not in str(fault.value)
