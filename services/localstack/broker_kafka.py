"""Apache Kafka on loopback, as one KRaft node or as several: configuration, formatting, command line."""

import base64
import hashlib
import os
import secrets
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import resources
from pathlib import Path

from services.localstack.broker_jars import Jars
from services.localstack.broker_java import Java
from services.localstack.errors import StartFailed
from services.localstack.places import StackDir, cache_directory
from services.localstack.ports import LOOPBACK, port_for
from services.localstack.program import Program, kafka_answers

FORMAT_SECONDS = 60.0
STOP_SECONDS = 30.0  # the first stop also writes the class archive
HEAP = ("-Xms128m", "-Xmx512m")  # measured: 230 MB resident with 120 partitions
SMALL_HEAP = ("-Xms64m", "-Xmx256m")  # of each of several nodes
SESSION_MS = 3000
CLUSTER_SESSION_MS = 9000  # measured: at a load of 27 on two cores live brokers miss 3 s, and nothing is in sync
SMALL_JVM = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")  # one local broker: quick to start, quiet when idle
AOT_CACHE_MAJOR = 25  # from here on Java's class archive is the AOT cache


@dataclass(frozen=True, slots=True)
class ApacheKafka:
    """Apache Kafka can run here, with this Java and these jars."""

    java: Java
    jars: Jars

    def __str__(self) -> str:
        return f"Apache Kafka {self.jars.version} ({self.java}, jars from {self.jars.origin})"


@dataclass(frozen=True, slots=True)
class Node:
    """One node: its ports, where it keeps its things, and the voters of the quorum, itself among them."""

    name: str
    number: int
    port: int
    controller: int
    home: Path
    voters: tuple[str, ...]


def _nothing() -> None:
    return


def kafka_program(kafka: ApacheKafka, directory: StackDir, environ: Mapping[str, str]) -> Program:
    """Write the configuration, format the data directory where it is new, and return what to run."""
    cluster_id = base64.urlsafe_b64encode(secrets.token_bytes(16)).rstrip(b"=").decode()
    ports = port_for(directory.ports, "broker"), port_for(directory.ports, "controller")
    node = Node("broker", 1, *ports, directory.kafka, (f"1@{LOOPBACK}:{ports[1]}",))
    archive = _archive(kafka, environ)
    fresh = archive.with_name(f"{archive.name}.{os.getpid()}")
    flags = (*HEAP, *_archive_flags(kafka.java, archive, fresh))
    return _program(kafka, node, cluster_id, flags, partial(_keep_archive, archive, fresh))


def kafka_cluster(
    kafka: ApacheKafka, directory: StackDir, environ: Mapping[str, str], size: int
) -> tuple[Program, ...]:
    """Do the same for a cluster of nodes on this machine, each a broker and a voter of the controllers' quorum.

    For tests of what a real deployment has to survive: a ledger on it takes `replication` 3.
    """
    cluster_id = base64.urlsafe_b64encode(secrets.token_bytes(16)).rstrip(b"=").decode()
    numbers = range(1, size + 1)
    ports = {
        number: (port_for(directory.ports, f"broker-{number}"), port_for(directory.ports, f"controller-{number}"))
        for number in numbers
    }
    voters = tuple(f"{number}@{LOOPBACK}:{ports[number][1]}" for number in numbers)
    archive = _archive(kafka, environ)
    flags = (*SMALL_HEAP, *(_archive_flags(kafka.java, archive, archive) if archive.exists() else ()))
    nodes = [Node(f"broker-{each}", each, *ports[each], directory.kafka / f"broker-{each}", voters) for each in numbers]
    for node in nodes:
        node.home.mkdir(exist_ok=True)
    return tuple(_program(kafka, node, cluster_id, flags) for node in nodes)


def _program(
    kafka: ApacheKafka, node: Node, cluster_id: str, flags: tuple[str, ...], after_stop: Callable[[], None] = _nothing
) -> Program:
    data, config = node.home / "data", node.home / "server.properties"
    config.write_text(_template("kafka-server.properties").format(**_places(node, data)))
    (node.home / "log4j2.properties").write_text(_template("kafka-log4j2.properties"))
    if not (data / "meta.properties").exists():
        _format(kafka, node, config, cluster_id)
    return Program(
        name=node.name,
        argv=(*_java(kafka, node, *flags, main="kafka.Kafka"), str(config)),
        ready=partial(kafka_answers, node.port),
        port=node.port,
        endpoint=f"{LOOPBACK}:{node.port}",
        stop_seconds=STOP_SECONDS,
        after_stop=after_stop,
    )


def _places(node: Node, data: Path) -> dict[str, object]:
    """Fill in the template: every record of Kafka's own topics is on all nodes, and on two before it counts."""
    size = len(node.voters)
    return {
        "node": node.number,
        "port": node.port,
        "controller": node.controller,
        "voters": ",".join(node.voters),
        "data": data,
        "replicas": size,
        "in_sync": max(1, size - 1),
        "session_ms": SESSION_MS if size == 1 else CLUSTER_SESSION_MS,
    }


def _java(kafka: ApacheKafka, node: Node, *flags: str, main: str) -> tuple[str, ...]:
    return (
        str(kafka.java.executable),
        *SMALL_JVM,
        *flags,
        "-cp",
        f"{kafka.jars.directory}/*",
        f"-Dlog4j2.configurationFile={node.home / 'log4j2.properties'}",
        main,
    )


def _format(kafka: ApacheKafka, node: Node, config: Path, cluster_id: str) -> None:
    tool = _java(kafka, node, "-Xmx128m", main="kafka.tools.StorageTool")
    answer = subprocess.run(
        (*tool, "format", f"--cluster-id={cluster_id}", f"--config={config}"),  # an id may begin with a dash
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=FORMAT_SECONDS,
        check=False,
    )
    if answer.returncode != 0:
        raise StartFailed(f"Kafka's data directory could not be formatted:\n{answer.stdout}{answer.stderr}")


def _archive(kafka: ApacheKafka, environ: Mapping[str, str]) -> Path:
    """Where this Java keeps Kafka's classes prepared for a quick start (measured: 2.7 s to 1.4 s)."""
    installed = kafka.java.executable.stat().st_mtime_ns  # an update in place makes the archive useless
    made_for = f"{kafka.java.home} {installed} {kafka.jars.directory} {kafka.jars.version}"
    return cache_directory(environ) / f"kafka-classes-{hashlib.sha256(made_for.encode()).hexdigest()[:12]}"


def _archive_flags(java: Java, archive: Path, fresh: Path) -> tuple[str, ...]:
    """Use the archive, or write one when the broker stops; a stale archive is only a warning of Java's."""
    use, write = (
        ("AOTCache", "AOTCacheOutput")
        if java.major >= AOT_CACHE_MAJOR
        else ("SharedArchiveFile", "ArchiveClassesAtExit")
    )
    if archive.exists():
        return (f"-XX:{use}={archive}",)
    archive.parent.mkdir(parents=True, exist_ok=True)
    return (f"-XX:{write}={fresh}",)


def _keep_archive(archive: Path, fresh: Path) -> None:
    if fresh.exists():
        fresh.replace(archive)


def _template(name: str) -> str:
    return (resources.files("services.localstack") / name).read_text()
