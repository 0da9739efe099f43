"""The doctor finds what is missing and says what to do about it."""

import json
import socket
from pathlib import Path

import pytest

from services.localstack import doctor
from services.localstack.doctor import Finding, examine
from services.localstack.places import StackDir


def findings(directory: Path, environ: dict[str, str]) -> dict[str, Finding]:
    return {finding.what: finding for finding in examine(StackDir(directory), environ)}


def test_every_failing_line_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("find_java", "find_postgres", "find_tansu"):
        monkeypatch.setattr(doctor, name, lambda *_: None)
    monkeypatch.setattr(doctor, "has_jgo", lambda _environ: False)
    found = findings(tmp_path, {"PATH": "", "XDG_CACHE_HOME": str(tmp_path)})
    failing = {what for what, finding in found.items() if not finding.fine}
    assert failing == {"Java", "Kafka's jars", "broker", "Postgres"}
    assert all(found[what].advice for what in failing)


def test_a_given_broker_and_database_have_to_answer(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    found = findings(
        tmp_path,
        {"JOBLEDGER_KAFKA": f"127.0.0.1:{port}", "JOBLEDGER_POSTGRES": f"postgresql://x:secret@127.0.0.1:{port}/x"},
    )
    assert not found["broker"].fine
    assert not found["Postgres"].fine
    assert "secret" not in str(found)


def test_a_remembered_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        (tmp_path / "ports.json").write_text(json.dumps({"api": port}))
        assert f"api ({port})" in findings(tmp_path, {})["ports"].found
    assert findings(tmp_path, {})["ports"].found == "every remembered one is free"
