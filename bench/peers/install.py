"""Peers from the package registries, into a cache of their own: never into the environment of this project.

What is installed is pinned with hashes in bench/peers/requirements and bench/peers/river; a change of these files makes
a new folder. Nothing is compiled but River, which has no other form.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from services.localstack.places import cache_directory

HERE = Path(__file__).parent
REQUIREMENTS = HERE / "requirements"
RIVER = HERE / "river"
STAMP = ".installed"
INSTALL_SECONDS = 600.0
TAIL_LINES = 5


class PeerAway(Exception):
    """A peer cannot be measured here, and why."""


def python_of(name: str) -> Path:
    """Return the Python of a virtual environment that holds what requirements/<name>.txt names."""
    file = REQUIREMENTS / f"{name}.txt"
    place = _place(name, [file])
    python = place / "bin" / "python"
    if not (place / STAMP).exists():
        _fresh(place)
        _run([sys.executable, "-m", "virtualenv", "--quiet", str(place)])
        pip = [str(python), "-m", "pip", "--disable-pip-version-check", "--no-input", "--quiet", "install"]
        _run([*pip, "--require-hashes", "--only-binary", ":all:", "-r", str(file)])
        (place / STAMP).touch()
    return python


def node_modules_of(name: str) -> Path:
    """Return the modules that requirements/<name>/package-lock.json names."""
    files = [REQUIREMENTS / name / each for each in ("package.json", "package-lock.json")]
    place = _place(f"{name}-server", files)
    if not (place / STAMP).exists():
        _fresh(place)
        for file in files:
            shutil.copy(file, place)
        _run([_tool("npm"), "ci", "--ignore-scripts", "--no-audit", "--no-fund"], place)
        (place / STAMP).touch()
    return place / "node_modules"


def river() -> Path:
    """Return River's program, built where that has not been done yet."""
    files = [RIVER / each for each in ("main.go", "go.mod", "go.sum")]
    place = _place("river", files)
    if not (place / STAMP).exists():
        _fresh(place)
        _run([_tool("go"), "build", "-mod=readonly", "-o", str(place / "river"), "."], RIVER)
        (place / STAMP).touch()
    return place / "river"


def pinned_versions(name: str, wanted: Sequence[str]) -> dict[str, str]:
    """Return the versions that a requirements file pins of some packages."""
    found = {}
    for line in (REQUIREMENTS / f"{name}.txt").read_text().splitlines():
        package, equals, rest = line.partition("==")
        if equals and package in wanted:
            found[package] = rest.split()[0]
    return found


def node_version(name: str) -> str:
    """Return the version of the one package that requirements/<name>/package.json asks for."""
    [version] = json.loads((REQUIREMENTS / name / "package.json").read_text())["dependencies"].values()
    return str(version)


def _place(name: str, files: Sequence[Path]) -> Path:
    """Return the folder of a peer: another one for other files, and for another Python."""
    digest = hashlib.sha256(sys.version.encode())
    for file in files:
        digest.update(file.read_bytes())
    return cache_directory(os.environ) / "peers" / f"{name}-{digest.hexdigest()[:12]}"


def _fresh(place: Path) -> None:
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)


def _tool(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise PeerAway(f"{name} is not installed on this machine")
    return found


def _run(command: Sequence[str], place: Path | None = None) -> None:
    try:
        answer = subprocess.run(
            command, cwd=place, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise PeerAway(f"`{_short(command)}` took longer than {INSTALL_SECONDS:g} s") from None
    if answer.returncode:
        tail = "\n".join((answer.stdout + answer.stderr).splitlines()[-TAIL_LINES:])
        raise PeerAway(f"`{_short(command)}` failed: {tail}")


def _short(command: Sequence[str]) -> str:
    return " ".join([Path(command[0]).name, *command[1:3]])
