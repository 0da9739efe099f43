"""What the verbs have in common on a terminal."""

import os
import sys
from pathlib import Path

import pytest

from services.cli.terminal import program


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
