"""The connection to Kafka is said once for both libraries; what does not fit together is refused by its setting."""

import ssl
from pathlib import Path

import pytest

from schemas.connection import Connection, connection_from

LOGIN = {
    "JOBLEDGER_KAFKA": "kafka:9093",
    "JOBLEDGER_KAFKA_SECURITY_PROTOCOL": "SASL_SSL",
    "JOBLEDGER_KAFKA_SASL_MECHANISM": "SCRAM-SHA-512",
    "JOBLEDGER_KAFKA_USER": "decider",
    "JOBLEDGER_KAFKA_PASSWORD": "s3cr3t",
}


def test_without_a_word_about_it_nothing_is_encrypted_and_nobody_logs_in() -> None:
    connection = connection_from({"JOBLEDGER_KAFKA": "a:1,b:2"})
    assert connection.librdkafka() == {"bootstrap.servers": "a:1,b:2"}
    assert connection.aiokafka() == {"security_protocol": "PLAINTEXT"}


def test_both_libraries_are_told_the_same() -> None:
    connection = connection_from(LOGIN)
    assert connection.librdkafka() == {
        "bootstrap.servers": "kafka:9093",
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "decider",
        "sasl.password": "s3cr3t",
    }
    told = connection.aiokafka()
    context = told.pop("ssl_context")
    assert context.check_hostname
    assert context.verify_mode == ssl.CERT_REQUIRED
    assert told == {
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "SCRAM-SHA-512",
        "sasl_plain_username": "decider",
        "sasl_plain_password": "s3cr3t",
    }


def test_passwords_come_from_files_and_are_never_shown(tmp_path: Path) -> None:
    (tmp_path / "password").write_text("s3cr3t\n")
    known = {key: value for key, value in LOGIN.items() if not key.endswith("PASSWORD")}
    connection = connection_from(known | {"JOBLEDGER_KAFKA_PASSWORD_FILE": str(tmp_path / "password")})
    assert connection.password == "s3cr3t"
    assert "s3cr3t" not in repr(connection)


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"SECURITY_PROTOCOL": "TLS"}, "JOBLEDGER_KAFKA_SECURITY_PROTOCOL takes PLAINTEXT, SSL"),
        ({"SECURITY_PROTOCOL": "PLAINTEXT"}, "JOBLEDGER_KAFKA_SASL_MECHANISM is set, and .*PROTOCOL is PLAINTEXT"),
        ({"SECURITY_PROTOCOL": "SSL", "SASL_MECHANISM": ""}, "JOBLEDGER_KAFKA_USER is set, and"),
        ({"SASL_MECHANISM": "GSSAPI"}, "JOBLEDGER_KAFKA_SASL_MECHANISM takes PLAIN, SCRAM"),
        ({"USER": ""}, "JOBLEDGER_KAFKA_USER not set: SASL_SSL needs it"),
        ({"PASSWORD": ""}, "JOBLEDGER_KAFKA_PASSWORD not set: SASL_SSL needs it"),
        ({"CA": "/nowhere/ca.pem"}, "JOBLEDGER_KAFKA_CA takes a PEM file, and /nowhere/ca.pem is none"),
        ({"CERTIFICATE": __file__}, "JOBLEDGER_KAFKA_KEY not set"),
        ({"KEY": __file__}, "JOBLEDGER_KAFKA_CERTIFICATE not set"),
        ({"KEY_PASSWORD": "s3cr3t"}, "JOBLEDGER_KAFKA_KEY not set"),
        ({"SECURITY_PROTOCOL": "SASL_PLAINTEXT", "CA": __file__}, "JOBLEDGER_KAFKA_CA is set, and"),
        ({"PASSWORD_FILE": "/nowhere/at-all"}, "JOBLEDGER_KAFKA_PASSWORD and JOBLEDGER_KAFKA_PASSWORD_FILE"),
        ({"PASSWORD": "", "PASSWORD_FILE": "/nowhere"}, "JOBLEDGER_KAFKA_PASSWORD_FILE names a file .*/nowhere"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_name_of_its_setting(changed: dict[str, str], named: str) -> None:
    with pytest.raises(ValueError, match=named) as refused:
        connection_from(LOGIN | {f"JOBLEDGER_KAFKA_{name}": value for name, value in changed.items()})
    assert "s3cr3t" not in str(refused.value)


def test_brokers_have_to_be_said() -> None:
    with pytest.raises(ValueError, match="JOBLEDGER_KAFKA not set"):
        connection_from({})


def test_a_client_shows_its_certificate_where_it_has_one() -> None:
    said = Connection("kafka:9093", "SSL", certificate=__file__, key=__file__, key_password="s3cr3t").librdkafka()
    assert said["ssl.certificate.location"] == said["ssl.key.location"] == __file__
    assert said["ssl.key.password"] == "s3cr3t"
