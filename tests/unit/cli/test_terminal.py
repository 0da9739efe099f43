"""What the verbs have in common on a terminal."""

import json
import os
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from services.cli.__main__ import app
from services.cli.terminal import program

JOB = "01a3185c-5000-7000-9400-700ae597a7d8"


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program in a virtual environment below the current directory, called by its path."""
    file = tmp_path / ".venv" / "bin" / "jobledger"
    file.parent.mkdir(parents=True)
    file.touch(mode=0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [".venv/bin/jobledger", "demo"])
    return file


def test_a_program_that_the_shell_would_not_find_is_named_by_its_path(
    installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", os.devnull)
    assert program() == ".venv/bin/jobledger"


def test_a_program_that_the_shell_finds_is_named_by_its_name(installed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(installed.parent))
    assert program() == "jobledger"


@pytest.mark.parametrize(
    "verb", [["get", JOB], ["list"], ["cancel", JOB], ["explain", JOB], ["submit", "http://a.example/"]]
)
def test_with_json_an_error_is_a_problem_on_stdout_and_the_exit_code_is_not_0(
    verb: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JOBLEDGER_API", "http://127.0.0.1:9")
    monkeypatch.delenv("JOBLEDGER_KEY", raising=False)
    plain, as_json, plain_again = (CliRunner().invoke(app, [*verb, *more]) for more in ([], ["--json"], []))
    assert [each.exit_code for each in (plain, as_json, plain_again)] == [1, 1, 1]
    assert plain.stdout == plain_again.stdout == ""
    problem = json.loads(as_json.stdout)
    assert problem["error"] == "no_key"
    assert "JOBLEDGER_KEY" in problem["message"]
    assert problem["message"] in as_json.stderr


def test_with_json_an_argument_that_cannot_be_read_is_a_problem_too() -> None:
    told = CliRunner().invoke(app, ["submit", "http://a.example/", "--metadata", "[", "--json"])
    assert (told.exit_code, json.loads(told.stdout)["error"]) == (1, "unusable")
