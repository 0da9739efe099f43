"""How every client gets to the brokers of Kafka: where they are, TLS, login. Said once, for both libraries that we use.

librdkafka takes `librdkafka()`, aiokafka takes `aiokafka()`. Both check the host's name against the certificate.
"""

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from schemas.secret_files import with_files

SECRET = ("JOBLEDGER_KAFKA_PASSWORD", "JOBLEDGER_KAFKA_KEY_PASSWORD")
PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")


@dataclass(frozen=True, slots=True)
class Connection:
    """Each field is the setting `JOBLEDGER_KAFKA_<FIELD NAME IN UPPER CASE>`; `servers` is `JOBLEDGER_KAFKA`.

    ca, certificate and key name PEM files. Passwords are never part of `repr`.
    """

    servers: str  # host:port[,host:port]
    security_protocol: str = "PLAINTEXT"
    sasl_mechanism: str = ""
    user: str = ""
    password: str = field(default="", repr=False)
    ca: str = ""  # empty: the authorities that the machine trusts
    certificate: str = ""  # of this client, where the brokers ask for one; with what leads to its authority behind it
    key: str = ""
    key_password: str = field(default="", repr=False)

    def __post_init__(self) -> None:
        _check(self)

    @property
    def encrypted(self) -> bool:
        """Whether TLS is spoken."""
        return self.security_protocol in ("SSL", "SASL_SSL")

    @property
    def logs_in(self) -> bool:
        """Whether a user and a password are said."""
        return self.security_protocol.startswith("SASL_")

    def librdkafka(self) -> dict[str, Any]:
        """Return the part of the configuration of confluent_kafka that says where and how to connect."""
        said = {
            "bootstrap.servers": self.servers,
            "security.protocol": self.security_protocol,
            "sasl.mechanism": self.sasl_mechanism,
            "sasl.username": self.user,
            "sasl.password": self.password,
            "ssl.ca.location": self.ca,
            "ssl.certificate.location": self.certificate,
            "ssl.key.location": self.key,
            "ssl.key.password": self.key_password,
        }
        if self.security_protocol == "PLAINTEXT":
            return {"bootstrap.servers": self.servers}
        return {name: value for name, value in said.items() if value}

    def aiokafka(self) -> dict[str, Any]:
        """Return the keyword arguments of an aiokafka client that say how to connect; where is said beside them."""
        said: dict[str, Any] = {"security_protocol": self.security_protocol}
        if self.encrypted:
            said["ssl_context"] = self._context()
        if self.logs_in:
            said["sasl_mechanism"] = self.sasl_mechanism
            said["sasl_plain_username"], said["sasl_plain_password"] = self.user, self.password
        return said

    def _context(self) -> ssl.SSLContext:
        context = ssl.create_default_context(cafile=self.ca or None)
        if self.certificate:
            context.load_cert_chain(self.certificate, self.key, self.key_password)
        return context


def connection_from(environ: Mapping[str, str]) -> Connection:
    """Read the connection from the environment; ValueError names the setting."""
    known = with_files(environ, SECRET)
    names = {each: f"JOBLEDGER_KAFKA_{each.upper()}" for each in Connection.__annotations__}
    names["servers"] = "JOBLEDGER_KAFKA"
    if not known.get(names["servers"]):
        raise ValueError("JOBLEDGER_KAFKA not set: give host:port of a broker")
    return Connection(**{each: known[name] for each, name in names.items() if name in known})


def _check(connection: Connection) -> None:
    """Raise ValueError for settings that do not go together: what is ignored in silence would be missed too late."""
    protocol, mechanism = connection.security_protocol, connection.sasl_mechanism
    if protocol not in PROTOCOLS:
        raise ValueError(f"JOBLEDGER_KAFKA_SECURITY_PROTOCOL takes {', '.join(PROTOCOLS)}")
    if connection.logs_in:
        if mechanism not in MECHANISMS:
            raise ValueError(f"JOBLEDGER_KAFKA_SASL_MECHANISM takes {', '.join(MECHANISMS)}, with {protocol}")
        for name in ("user", "password"):
            if not getattr(connection, name):
                raise ValueError(f"JOBLEDGER_KAFKA_{name.upper()} not set: {protocol} needs it")
    _refuse(connection, ("sasl_mechanism", "user", "password"), connection.logs_in, "SASL_SSL or SASL_PLAINTEXT")
    _refuse(connection, ("ca", "certificate", "key", "key_password"), connection.encrypted, "SSL or SASL_SSL")
    if bool(connection.certificate) != bool(connection.key):
        missing, given = ("KEY", "CERTIFICATE") if connection.certificate else ("CERTIFICATE", "KEY")
        raise ValueError(f"JOBLEDGER_KAFKA_{missing} not set: JOBLEDGER_KAFKA_{given} is, and they go together")
    if connection.key_password and not connection.key:
        raise ValueError("JOBLEDGER_KAFKA_KEY not set: JOBLEDGER_KAFKA_KEY_PASSWORD is, and opens it")
    for name in ("ca", "certificate", "key"):
        file = getattr(connection, name)
        if file and not Path(file).is_file():
            raise ValueError(f"JOBLEDGER_KAFKA_{name.upper()} takes a PEM file, and {file} is none")


def _refuse(connection: Connection, names: tuple[str, ...], fits: bool, takes: str) -> None:
    for name in names:
        if getattr(connection, name) and not fits:
            raise ValueError(
                f"JOBLEDGER_KAFKA_{name.upper()} is set, and JOBLEDGER_KAFKA_SECURITY_PROTOCOL is "
                f"{connection.security_protocol}: set that to {takes}, or leave this out"
            )
