"""Apache Kafka as one KRaft node on loopback: configuration, formatting, command line."""

import base64
import hashlib
import os
import secrets
import subprocess
from collections.abc import Mapping
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
SMALL_JVM = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")  # one local broker: quick to start, quiet when idle
AOT_CACHE_MAJOR = 25  # from here on Java's class archive is the AOT cache


@dataclass(frozen=True, slots=True)
class ApacheKafka:
    """Apache Kafka can run here, with this Java and these jars."""

    java: Java
    jars: Jars

    def __str__(self) -> str:
        return f"Apache Kafka {self.jars.version} ({self.java}, jars from {self.jars.origin})"


def kafka_program(kafka: ApacheKafka, directory: StackDir, environ: Mapping[str, str]) -> Program:
    """Write the configuration, format the data directory where it is new, and return what to run."""
    port, controller = port_for(directory.ports, "broker"), port_for(directory.ports, "controller")
    data, config = directory.kafka / "data", directory.kafka / "server.properties"
    config.write_text(_template("kafka-server.properties").format(port=port, controller=controller, data=data))
    (directory.kafka / "log4j2.properties").write_text(_template("kafka-log4j2.properties"))
    if not (data / "meta.properties").exists():
        _format(kafka, directory, config)
    archive = _archive(kafka, environ)
    fresh = archive.with_name(f"{archive.name}.{os.getpid()}")
    flags = (*HEAP, *_archive_flags(kafka.java, archive, fresh))
    return Program(
        name="broker",
        argv=(*_java(kafka, directory, *flags, main="kafka.Kafka"), str(config)),
        ready=partial(kafka_answers, port),
        port=port,
        endpoint=f"{LOOPBACK}:{port}",
        stop_seconds=STOP_SECONDS,
        after_stop=partial(_keep_archive, archive, fresh),
    )


def _java(kafka: ApacheKafka, directory: StackDir, *flags: str, main: str) -> tuple[str, ...]:
    return (
        str(kafka.java.executable),
        *SMALL_JVM,
        *flags,
        "-cp",
        f"{kafka.jars.directory}/*",
        f"-Dlog4j2.configurationFile={directory.kafka / 'log4j2.properties'}",
        main,
    )


def _format(kafka: ApacheKafka, directory: StackDir, config: Path) -> None:
    cluster = base64.urlsafe_b64encode(secrets.token_bytes(16)).rstrip(b"=").decode()
    tool = _java(kafka, directory, "-Xmx128m", main="kafka.tools.StorageTool")
    answer = subprocess.run(
        (*tool, "format", f"--cluster-id={cluster}", f"--config={config}"),  # an id may begin with a dash
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
