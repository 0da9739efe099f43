"""Apache Kafka that speaks TLS, asks for a login, and writes down each question of rights and its answer."""

import os
import re
import secrets
import socket
import ssl
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from confluent_kafka.admin import (  # type: ignore[attr-defined]
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialAlteration,
    UserScramCredentialUpsertion,
)
from msgspec import Struct

from services.localstack.broker_kafka import ApacheKafka, kafka_program
from services.localstack.child import Child
from services.localstack.places import StackDir
from services.localstack.ports import LOOPBACK, known_ports
from services.runtime.acls import Acl
from services.runtime.kafka import client_config
from services.runtime.settings import Settings
from tests.integration.secured.certificates import Authority

ADMIN = "admin"
ITERATIONS = 4096  # the fewest that Kafka takes
ANSWER_SECONDS = 20.0
# The last of two lines of one key counts. Brokers log in among themselves by PLAIN, whose users stand in this file.
SECURED = """
listeners=SASL_SSL://{host}:{port},CONTROLLER://{host}:{controller}
advertised.listeners=SASL_SSL://{host}:{port}
listener.security.protocol.map=SASL_SSL:SASL_SSL,CONTROLLER:PLAINTEXT
inter.broker.listener.name=SASL_SSL
sasl.enabled.mechanisms=SCRAM-SHA-512,SCRAM-SHA-256,PLAIN
sasl.mechanism.inter.broker.protocol=PLAIN
listener.name.sasl_ssl.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \
 username="{admin}" password="{password}" user_{admin}="{password}";
listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.sasl_ssl.scram-sha-256.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
ssl.keystore.type=PEM
ssl.keystore.location={keystore}
ssl.truststore.type=PEM
ssl.truststore.location={ca}
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:{admin};User:ANONYMOUS
"""
AUDIT = """
logger.audit.name = kafka.authorizer.logger
logger.audit.level = debug
"""
TOLD = re.compile(
    r"Principal = User:(?P<user>\S+) is (?P<answer>Allowed|Denied) operation = (?P<operation>\w+) from host = \S+ "
    r"on resource = (?P<resource>\w+):LITERAL:(?P<name>\S+) for request = (?P<request>\w+)"
)


class Asked(Struct, frozen=True):
    """A question of rights that the broker answered."""

    user: str
    allowed: bool
    operation: str
    resource: str
    name: str
    request: str


class SecuredBroker:
    """One node; `settings` of its administrator, who may do everything, and of others by `login`."""

    def __init__(self, kafka: ApacheKafka, directory: StackDir, given: Settings) -> None:
        self.authority = Authority(directory.root)
        password = secrets.token_urlsafe()
        program = kafka_program(kafka, directory, os.environ)
        config = directory.kafka / "server.properties"
        config.write_text(
            config.read_text()
            + SECURED.format(
                host=LOOPBACK,
                port=program.port,
                controller=known_ports(directory.ports)["controller"],
                admin=ADMIN,
                password=password,
                keystore=self.authority.server().both,
                ca=self.authority.ca,
            )
        )
        log = directory.kafka / "log4j2.properties"
        log.write_text(log.read_text() + AUDIT)
        self.settings = replace(
            given,
            kafka=program.endpoint,
            kafka_security_protocol="SASL_SSL",
            kafka_sasl_mechanism="PLAIN",
            kafka_user=ADMIN,
            kafka_password=password,
            kafka_ca=str(self.authority.ca),
        )
        ready = partial(speaks_tls, program.port, self.authority.ca)
        self._log = directory.log("broker")
        self._asked: list[Asked] = []
        self._seen = 0  # bytes of the log
        self._child = Child(replace(program, ready=ready), self._log)

    def start(self) -> None:
        """Start the node and wait until it lets somebody in."""
        self._child.start()
        self._child.wait_ready()
        self._admin = AdminClient(client_config(self.settings, "admin"))

    def stop(self) -> None:
        """Stop the node."""
        self._child.stop()

    def add_users(self, names: Iterable[str]) -> dict[str, str]:
        """Make users who log in by SCRAM, and return their passwords."""
        passwords = {name: secrets.token_urlsafe() for name in names}
        info = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_512, ITERATIONS)
        made: list[UserScramCredentialAlteration] = [
            UserScramCredentialUpsertion(name, info, password.encode(), secrets.token_bytes(16))
            for name, password in passwords.items()
        ]
        for future in self._admin.alter_user_scram_credentials(made).values():
            future.result(ANSWER_SECONDS)
        return passwords

    def login(self, name: str, password: str) -> Settings:
        """Return the settings of a user."""
        return replace(self.settings, kafka_sasl_mechanism="SCRAM-SHA-512", kafka_user=name, kafka_password=password)

    def grant(self, principal: str, acls: Iterable[Acl]) -> None:
        """Give rights."""
        for future in self._admin.create_acls([_binding(principal, acl) for acl in acls]).values():
            future.result(ANSWER_SECONDS)

    @contextmanager
    def without(self, principal: str, acl: Acl) -> Iterator[None]:
        """Take one right away while the block runs."""
        binding = _binding(principal, acl)
        names = ("restype", "name", "resource_pattern_type", "principal", "host", "operation", "permission_type")
        wanted = AclBindingFilter(*(getattr(binding, name) for name in names))
        [future] = self._admin.delete_acls([wanted]).values()
        assert len(future.result(ANSWER_SECONDS)) == 1
        try:
            yield
        finally:
            self.grant(principal, [acl])

    def audit(self) -> list[Asked]:
        """Return every question that was answered since the start."""
        with self._log.open("rb") as log:
            log.seek(self._seen)
            lines = log.read()
        whole = lines[: lines.rfind(b"\n") + 1]
        self._seen += len(whole)
        self._asked += [
            Asked(
                found["user"],
                found["answer"] == "Allowed",
                found["operation"],
                found["resource"].lower().replace("transactionalid", "transactional-id"),
                found["name"],
                found["request"],
            )
            for found in TOLD.finditer(whole.decode(errors="replace"))
        ]
        return self._asked


def speaks_tls(port: int, ca: Path) -> bool:
    """Whether a server on the port shows a certificate of the authority."""
    context = ssl.create_default_context(cafile=ca)
    try:
        with (
            socket.create_connection((LOOPBACK, port), 2.0) as plain,
            context.wrap_socket(plain, server_hostname=LOOPBACK),
        ):
            return True
    except OSError:
        return False


def _binding(principal: str, acl: Acl) -> AclBinding:
    return AclBinding(
        ResourceType[acl.resource.replace("-", "_").upper()],
        acl.name,
        ResourcePatternType.PREFIXED if acl.prefixed else ResourcePatternType.LITERAL,
        principal,
        "*",
        AclOperation[acl.operation],
        AclPermissionType.ALLOW,
    )
