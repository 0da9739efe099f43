"""Find the jars of Apache Kafka: KAFKA_HOME, the user's cache, the Maven client, or the Python client jgo."""

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from services.localstack.broker_java import Java
from services.localstack.errors import BrokerUnavailable
from services.localstack.places import cache_directory

COPY_GOAL = "org.apache.maven.plugins:maven-dependency-plugin:3.11.0:copy-dependencies"
DOWNLOAD_SECONDS = 600.0
OLDEST_KAFKA_MAJOR = 4
LAST_LINES = 3


@dataclass(frozen=True, slots=True)
class Jar:
    """One pinned jar; `coordinate` is group:artifact:version."""

    coordinate: str
    sha256: str

    @property
    def file_name(self) -> str:
        """What the Maven client calls the file."""
        _, artifact, version = self.coordinate.split(":")
        return f"{artifact}-{version}.jar"


@dataclass(frozen=True, slots=True)
class Jars:
    """A directory with every jar of one version of Apache Kafka, and where it came from."""

    directory: Path
    version: str
    origin: str


def pinned_jars() -> tuple[Jar, ...]:
    """The jars that kafka-jars.sha256 lists."""
    text = (resources.files("services.localstack") / "kafka-jars.sha256").read_text()
    lines = (line.split() for line in text.splitlines() if line and not line.startswith("#"))
    return tuple(Jar(coordinate, sha256) for sha256, coordinate in lines)


def pinned_version() -> str:
    """The version of Apache Kafka that is pinned."""
    return next(jar.coordinate.rpartition(":")[2] for jar in pinned_jars() if ":kafka_2.13:" in jar.coordinate)


def find_jars(environ: Mapping[str, str], java: Java, tell: Callable[[str], None]) -> Jars:
    """Return the jars, downloading them once per user; BrokerUnavailable says what was tried and what to do."""
    home = environ.get("KAFKA_HOME")
    if home:
        return _from_kafka_home(Path(home))
    version = pinned_version()
    kept = cached_jars(environ)
    if kept is not None:
        return kept
    directory = _jar_directory(environ)
    directory.parent.mkdir(parents=True, exist_ok=True)
    refusals = []
    for name, is_here, download in CLIENTS:
        if not is_here(environ):
            refusals.append(f"{name}: not installed")
            continue
        tell(f"downloading Apache Kafka {version} with {name} (43 MB, once)")
        with tempfile.TemporaryDirectory(dir=directory.parent, prefix="jars-") as place:
            try:
                download(Path(place), java, environ)
                check(Path(place))
            except BrokerUnavailable as fault:
                refusals.append(f"{name}: {fault}")
                continue
            _keep(Path(place), directory)
        (directory / "origin").write_text(name)
        return Jars(directory, version, name)
    raise BrokerUnavailable(
        f"no jars of Apache Kafka {version}. " + "; ".join(refusals) + ". Set KAFKA_HOME to an unpacked "
        "Apache Kafka 4, or install Maven, or set JOBLEDGER_KAFKA to a running broker"
    )


def cached_jars(environ: Mapping[str, str]) -> Jars | None:
    """The jars that an earlier download left in the user's cache, or None."""
    directory = _jar_directory(environ)
    if not all((directory / jar.file_name).exists() for jar in pinned_jars()):
        return None
    origin = directory / "origin"
    return Jars(directory, pinned_version(), origin.read_text() if origin.exists() else "the cache")


def check(directory: Path) -> None:
    """Compare every pinned jar with its checksum; BrokerUnavailable names the first that differs."""
    for jar in pinned_jars():
        file = directory / jar.file_name
        if not file.exists():
            raise BrokerUnavailable(f"{jar.coordinate} was not downloaded")
        if hashlib.sha256(file.read_bytes()).hexdigest() != jar.sha256:
            raise BrokerUnavailable(f"{jar.coordinate} is not the file that kafka-jars.sha256 names; do not use it")


def _jar_directory(environ: Mapping[str, str]) -> Path:
    return cache_directory(environ) / f"kafka-{pinned_version()}"


def _from_kafka_home(home: Path) -> Jars:
    for core in (home / "libs").glob("kafka_2.13-*.jar"):
        version = re.fullmatch(r"kafka_2\.13-((\d+)\.[\w.-]+)\.jar", core.name)
        if version and int(version[2]) >= OLDEST_KAFKA_MAJOR:
            return Jars(core.parent, version[1], "KAFKA_HOME")
    raise BrokerUnavailable(
        f"KAFKA_HOME={home} holds no libs/kafka_2.13-4.*.jar: point it at Apache Kafka 4, or unset it"
    )


def find_maven(environ: Mapping[str, str]) -> str | None:
    """The Maven client on PATH, or None."""
    return shutil.which("mvn", path=environ.get("PATH", ""))


def has_jgo(_environ: Mapping[str, str]) -> bool:
    """Whether PyPI's jgo is installed."""
    return importlib.util.find_spec("jgo") is not None


def _by_maven(place: Path, java: Java, environ: Mapping[str, str]) -> None:
    pom = place / "pom.xml"
    pom.write_text((resources.files("services.localstack") / "kafka-pom.xml").read_text())
    command = (
        find_maven(environ) or "mvn",
        "-q",
        "-B",
        "-f",
        str(pom),
        COPY_GOAL,
        "-DincludeScope=runtime",
        f"-DoutputDirectory={place}",
    )
    try:
        answer = subprocess.run(
            command,
            env={**os.environ, **environ, "JAVA_HOME": str(java.home)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=DOWNLOAD_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as fault:
        raise BrokerUnavailable(f"mvn did not finish ({fault})") from None
    if answer.returncode != 0:
        raise BrokerUnavailable(f"mvn failed ({_last(answer.stdout + answer.stderr)})")


def _by_jgo(place: Path, java: Java, environ: Mapping[str, str]) -> None:
    """Fetch the pinned jars one by one; what they need is already resolved in the list."""
    from jgo.maven import MavenContext

    context = MavenContext(repo_cache=place / "repository")
    for jar in pinned_jars():
        group, artifact, version = jar.coordinate.split(":")
        try:
            file = context.project(group, artifact).at_version(version).artifact().resolve()
        except Exception as fault:  # jgo raises errors of its own, of requests and of the system
            raise BrokerUnavailable(f"{jar.coordinate} could not be fetched ({_last(str(fault))})") from None
        shutil.copyfile(file, place / jar.file_name)
    shutil.rmtree(place / "repository")


# Tried in this order: name, whether it is installed, how it fetches the jars to a directory.
CLIENTS = (("the Maven client", find_maven, _by_maven), ("PyPI's jgo", has_jgo, _by_jgo))


def _keep(place: Path, directory: Path) -> None:
    """Move the checked jars to the cache; another process may have been faster."""
    final = place / "checked"
    final.mkdir()
    for jar in pinned_jars():
        (place / jar.file_name).replace(final / jar.file_name)
    try:
        final.replace(directory)
    except OSError:
        if not all((directory / jar.file_name).exists() for jar in pinned_jars()):
            raise


def _last(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " ".join(lines[-LAST_LINES:]) or "it said nothing"
