"""Every service of ours under a user of its own on a secured broker, with the rights that `jobledger acls` prints."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import msgspec

from services.localstack.broker_kafka import ApacheKafka
from services.localstack.child import Child
from services.localstack.places import StackDir
from services.localstack.secret_file import secrets_of
from services.localstack.services import SERVICES, Service, service_program
from services.localstack.stack import NO_CLICKHOUSE, Stack
from services.runtime.acls import Acl
from services.runtime.settings import Settings
from services.runtime.topic_plan import apply, plan
from tests.acceptance.commands import jobledger
from tests.integration.secured.broker import SecuredBroker

OPERATOR_KEY = "operator-key-of-the-tests"


class House:
    """A secured broker with topics, users and their rights, and who starts services on it."""

    def __init__(self, kafka: ApacheKafka, directory: Path, given: Settings) -> None:
        places = StackDir(directory / "broker"), StackDir(directory / "services")
        for place in places:
            place.create()
        self._directory = places[1]
        self.broker = SecuredBroker(kafka, places[0], given)
        self.acls: dict[str, list[Acl]] = {}
        self._passwords: dict[str, str] = {}

    def open(self) -> None:
        """Start the broker, make users with their rights, and have the operator make the topics."""
        self.broker.start()
        prefix = self.broker.settings.topic_prefix
        asked = ("acls", "--prefix", prefix, "--principal", "User:{service}", "--json")
        printed = jobledger(self._directory.root, *asked)
        assert printed.returncode == 0, printed.stderr
        said = json.loads(printed.stdout)
        self.acls = {name: msgspec.convert(each["acls"], list[Acl]) for name, each in said.items()}
        self._passwords = self.broker.add_users(said)
        for name, password in self._passwords.items():
            (self._directory.root / f"{name}.password").write_text(f"{password}\n")
        for name, each in said.items():
            self.broker.grant(each["principal"], self.acls[name])
        operator = self.settings("operator")
        apply(operator, plan(operator))
        assert plan(operator) == []

    def settings(self, name: str) -> Settings:
        """Return the settings of a user."""
        return self.broker.login(name, self._passwords[name])

    @contextmanager
    def running(self, *names: str) -> Iterator[Stack]:
        """Run these services, as an operator of a cluster of their own would: by configuration alone."""
        stack = self._stack()
        try:
            stack.start()
            stack.environ |= self._common()
            stack.start_services([self._as_itself(service) for service in SERVICES if service.name in names])
            yield stack
        finally:
            stack.stop()

    def child(self, name: str) -> Child:
        """Return a service that was not started yet, and that nobody waits for."""
        stack = self._stack()
        stack.start()
        environ = {**stack.environ, **self._common()}
        [service] = [self._as_itself(each) for each in SERVICES if each.name == name]
        program = service_program(service, self._directory, environ, secrets_of(self._directory.secrets, {}))
        return Child(program, self._directory.log(f"{name}-alone"))

    def _stack(self) -> Stack:
        """Return a stack of which every part is somebody else's; each service has a user of its own beside this."""
        settings = self.broker.settings
        given = {
            "JOBLEDGER_KAFKA": settings.kafka,
            "JOBLEDGER_KAFKA_SECURITY_PROTOCOL": settings.kafka_security_protocol,
            "JOBLEDGER_KAFKA_SASL_MECHANISM": "SCRAM-SHA-512",
            "JOBLEDGER_KAFKA_CA": settings.kafka_ca,
            "JOBLEDGER_BROKER": "apache-kafka",
            "JOBLEDGER_POSTGRES": settings.postgres,
            "JOBLEDGER_REGISTRY": settings.registry,
            "JOBLEDGER_CLICKHOUSE": NO_CLICKHOUSE,
            "JOBLEDGER_BLOBS": settings.blobs,
            "JOBLEDGER_PARTITIONS": str(settings.partitions),
            "JOBLEDGER_OPERATOR_KEY": OPERATOR_KEY,
        }
        others = {name: value for name, value in os.environ.items() if not name.startswith("JOBLEDGER_")}
        return Stack(self._directory, others | given)

    def _common(self) -> dict[str, str]:
        return {"JOBLEDGER_TOPIC_PREFIX": self.broker.settings.topic_prefix}

    def _as_itself(self, service: Service) -> Service:
        own = (
            ("JOBLEDGER_KAFKA_USER", service.name),
            ("JOBLEDGER_KAFKA_PASSWORD_FILE", str(self._directory.root / f"{service.name}.password")),
        )
        return replace(service, settings=service.settings + own)
