"""Which broker is taken, and that it says why."""

import hashlib
from pathlib import Path

import pytest

from services.localstack import broker, broker_jars, broker_kafka
from services.localstack.broker import External, choose_broker, kind_of
from services.localstack.broker_jars import Jar, Jars, cached_jars, check, find_jars, pinned_jars, pinned_version
from services.localstack.broker_java import Java, every_java, find_java
from services.localstack.broker_kafka import ApacheKafka, kafka_cluster, kafka_program
from services.localstack.broker_tansu import Tansu
from services.localstack.errors import BrokerUnavailable
from services.localstack.places import StackDir
from services.localstack.program import Program

JAVA = Java(Path("/java/bin/java"), Path("/java"), 21, "PATH")


def silent(_step: str) -> None:
    return


@pytest.fixture
def no_java(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broker, "find_java", lambda _environ: None)
    monkeypatch.setattr(broker, "find_tansu", lambda: Path("/tansu"))


@pytest.fixture
def kafka_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broker, "find_java", lambda _environ: JAVA)
    monkeypatch.setattr(broker, "find_jars", lambda *_: Jars(Path("/jars"), "4.4.0", "the Maven client"))


def test_a_given_broker_comes_first() -> None:
    chosen = choose_broker({"JOBLEDGER_KAFKA": "somewhere:9092"}, silent)
    assert chosen == External("somewhere:9092", "external")
    assert str(chosen) == "the one of JOBLEDGER_KAFKA (somewhere:9092)"


def test_a_given_broker_may_be_named() -> None:
    given = {"JOBLEDGER_KAFKA": "somewhere:9092", "JOBLEDGER_BROKER": "apache-kafka"}
    assert kind_of(choose_broker(given, silent)) == "apache-kafka"


@pytest.mark.usefixtures("kafka_here")
def test_apache_kafka_says_where_java_and_jars_are_from() -> None:
    chosen = choose_broker({}, silent)
    assert isinstance(chosen, ApacheKafka)
    assert str(chosen) == "Apache Kafka 4.4.0 (Java 21 from PATH, jars from the Maven client)"


@pytest.mark.usefixtures("no_java")
def test_tansu_says_why_apache_kafka_was_not_taken() -> None:
    chosen = choose_broker({}, silent)
    assert isinstance(chosen, Tansu)
    assert "all data is lost at the stop (no Java 17 or newer" in str(chosen)


@pytest.mark.usefixtures("no_java")
def test_apache_kafka_that_is_forced_and_cannot_be_had_is_an_error() -> None:
    with pytest.raises(BrokerUnavailable, match="JAVA_HOME"):
        choose_broker({"JOBLEDGER_BROKER": "apache-kafka"}, silent)


@pytest.mark.usefixtures("kafka_here")
def test_tansu_can_be_forced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broker, "find_tansu", lambda: Path("/tansu"))
    assert choose_broker({"JOBLEDGER_BROKER": "tansu"}, silent) == Tansu(Path("/tansu"), "JOBLEDGER_BROKER=tansu")


@pytest.mark.parametrize("environ", [{"JOBLEDGER_BROKER": "redpanda"}, {"JOBLEDGER_BROKER": "external"}])
def test_a_choice_that_cannot_be_followed_is_an_error(environ: dict[str, str]) -> None:
    with pytest.raises(BrokerUnavailable, match="JOBLEDGER_"):
        choose_broker(environ, silent)


def java_in(home: Path, version: str) -> Path:
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "java").write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\"' >&2\n")
    (home / "bin" / "java").chmod(0o755)
    return home


@pytest.mark.parametrize(("version", "major"), [("1.8.0_402", 8), ("17.0.15", 17), ("25", 25)])
def test_java_tells_its_version_with_and_without_a_release_file(tmp_path: Path, version: str, major: int) -> None:
    home = java_in(tmp_path / "jdk", version)
    assert next(every_java({"JAVA_HOME": str(home)})).major == major
    (home / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    assert next(every_java({"JAVA_HOME": str(home)})).major == major


def test_a_java_that_is_too_old_is_passed_over(tmp_path: Path) -> None:
    old, new = java_in(tmp_path / "old", "11.0.2"), java_in(tmp_path / "new", "21.0.1")
    found = find_java({"JAVA_HOME": str(old), "PATH": str(new / "bin")})
    assert found is not None
    assert str(found) == "Java 21 from PATH"


def test_the_pinned_jars_name_one_version_of_kafka() -> None:
    ours = [jar for jar in pinned_jars() if jar.coordinate.startswith("org.apache.kafka:")]
    assert {jar.coordinate.rpartition(":")[2] for jar in ours} == {pinned_version()}
    assert len({jar.file_name for jar in pinned_jars()}) == len(pinned_jars())
    pom = Path(broker_jars.__file__).with_name("kafka-pom.xml").read_text()
    assert f"<version>{pinned_version()}</version>" in pom


@pytest.fixture
def one_jar(monkeypatch: pytest.MonkeyPatch) -> Jar:
    jar = Jar("org.apache.kafka:kafka_2.13:4.4.0", hashlib.sha256(b"good").hexdigest())
    monkeypatch.setattr(broker_jars, "pinned_jars", lambda: (jar,))
    return jar


def test_a_jar_that_is_not_the_pinned_one_is_refused(tmp_path: Path, one_jar: Jar) -> None:
    (tmp_path / one_jar.file_name).write_bytes(b"good")
    check(tmp_path)
    (tmp_path / one_jar.file_name).write_bytes(b"bad")
    with pytest.raises(BrokerUnavailable, match="is not the file that"):
        check(tmp_path)


def test_jars_are_downloaded_once_and_only_kept_when_their_checksum_is_right(
    tmp_path: Path, one_jar: Jar, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = [b"bad", b"good"]

    def download(place: Path, _java: Java, _environ: object) -> None:
        (place / one_jar.file_name).write_bytes(content.pop(0))

    monkeypatch.setattr(broker_jars, "CLIENTS", (("a client", lambda _environ: "here", download),))
    environ = {"XDG_CACHE_HOME": str(tmp_path)}
    with pytest.raises(BrokerUnavailable, match="Set KAFKA_HOME"):
        find_jars(environ, JAVA, silent)
    assert cached_jars(environ) is None
    first = find_jars(environ, JAVA, silent)
    assert first.origin == "a client"
    assert find_jars(environ, JAVA, silent) == first
    assert sorted(file.name for file in (tmp_path / "jobledger").iterdir()) == ["kafka-4.4.0"]


def test_kafka_home_has_to_hold_kafka_4(tmp_path: Path) -> None:
    (tmp_path / "libs").mkdir()
    (tmp_path / "libs" / "kafka_2.13-3.9.1.jar").touch()
    with pytest.raises(BrokerUnavailable, match="point it at Apache Kafka 4"):
        find_jars({"KAFKA_HOME": str(tmp_path)}, JAVA, silent)
    (tmp_path / "libs" / "kafka_2.13-4.1.0.jar").touch()
    assert find_jars({"KAFKA_HOME": str(tmp_path)}, JAVA, silent) == Jars(tmp_path / "libs", "4.1.0", "KAFKA_HOME")


@pytest.mark.parametrize(("size", "replicas", "in_sync"), [(1, 1, 1), (3, 3, 2)])
def test_each_node_knows_all_voters_and_keeps_kafkas_own_topics_on_all_nodes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, replicas: int, in_sync: int
) -> None:
    formatted: list[str] = []
    monkeypatch.setattr(broker_kafka, "_format", lambda *given: formatted.append(given[-1]))
    directory, kafka = StackDir(tmp_path), ApacheKafka(java_that_is(tmp_path), Jars(Path("/jars"), "4.4.0", "Maven"))
    directory.create()
    environ = {"XDG_CACHE_HOME": str(tmp_path)}
    if size == 1:
        programs: tuple[Program, ...] = (kafka_program(kafka, directory, environ),)
    else:
        programs = kafka_cluster(kafka, directory, environ, size)
    configs = [Path(program.argv[-1]).read_text() for program in programs]
    lines = [dict(line.split("=", 1) for line in text.splitlines() if "=" in line) for text in configs]
    assert [each["node.id"] for each in lines] == [str(number) for number in range(1, size + 1)]
    assert len({each["controller.quorum.voters"] for each in lines}) == 1
    assert lines[0]["controller.quorum.voters"].count("@") == size
    for each in lines:
        assert each["transaction.state.log.replication.factor"] == str(replicas)
        assert each["transaction.state.log.min.isr"] == str(in_sync)
        assert each["offsets.topic.replication.factor"] == str(replicas)
    assert len(set(formatted)) == 1
    assert len({each["log.dirs"] for each in lines}) == size


def java_that_is(home: Path) -> Java:
    executable = java_in(home / "jdk", "21") / "bin" / "java"
    return Java(executable, executable.parent.parent, 21, "PATH")
