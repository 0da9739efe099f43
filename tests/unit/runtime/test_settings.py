"""Settings are read once, and a bad one is refused with its key and without its value."""

import dataclasses
import re
from ipaddress import IPv4Network
from pathlib import Path

import pytest

from services.runtime.errors import SettingsError
from services.runtime.settings import Settings, blob_directory, settings_from
from tests.environ import environ_of

REQUIRED = {
    "JOBLEDGER_KAFKA": "127.0.0.1:9092",
    "JOBLEDGER_POSTGRES": "postgresql://u:s3cr3t@127.0.0.1/x",
    "JOBLEDGER_REGISTRY": "http://127.0.0.1:8081",
    "JOBLEDGER_BLOBS": "file:///var/blobs",
}


def test_what_is_not_said_has_its_default_and_what_is_said_has_its_type() -> None:
    said = {"JOBLEDGER_PARTITIONS": "64", "JOBLEDGER_LEASE_SECONDS": "60.5", "JOBLEDGER_ALLOWED_NETWORKS": "10.0.0.0/8"}
    settings = settings_from(REQUIRED | said | {"PATH": "/bin"})
    assert (settings.partitions, settings.lease_seconds) == (64, 60.5)
    assert settings.allowed_networks == (IPv4Network("10.0.0.0/8"),)
    assert settings.worker_slots == Settings(kafka="", postgres="", registry="", blobs="").worker_slots


def test_every_missing_setting_is_named_at_once() -> None:
    with pytest.raises(SettingsError, match=r"JOBLEDGER_KAFKA, JOBLEDGER_BLOBS not set: .*jobledger up"):
        settings_from({key: REQUIRED[key] for key in ("JOBLEDGER_POSTGRES", "JOBLEDGER_REGISTRY")})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("SPIDER_PREFIX", "spider"),
        ("SPIDER_PREFIX", "/"),
        ("SPIDER_PREFIX", "/api/v1"),
        ("SPIDER_PREFIX", "/metrics"),
        ("SPIDER_FIRST_UID", "33"),
        ("SPIDER_FIRST_UID", "4294967295"),
        ("SPIDER_USERS", "1"),
        ("STREAM_KEEPALIVE_SECONDS", "15.1"),
        ("STREAM_KEEPALIVE_SECONDS", "0"),
        ("STREAM_SLOW_SECONDS", "nan"),
        ("MIN_POSITION_SECONDS", "inf"),
        ("STREAMS_PER_KEY", "0"),
        ("MAX_QUEUE_SECONDS", "31622401"),
        ("MAX_QUEUE_SECONDS", "-1"),
        ("IDEMPOTENCY_SECONDS", "nan"),
        ("MAX_PENDING", "0"),
        ("PARTITIONS", "twelve"),
        ("PARTITIONS", "0"),
        ("LEASE_SECONDS", "soon"),
        ("SCHEDULE_MIN_SECONDS", "0"),
        ("SCHEDULE_GRACE_SECONDS", "inf"),
        ("SCHEDULE_CATCH_UP", "0"),
        ("LEASE_SECONDS", "15"),
        ("ALLOW_PRIVATE_ADDRESSES", "true"),
        ("BROKER", "redpanda"),
        ("INSTANCE", "1"),
        ("JOB_CREDITS", "0"),
        ("RENDER_SURCHARGE", "-1"),
        ("PLANS", '{"bi": {"metred": true}}'),
        ("PLANS", '{"bi": {"maxInFlight": 0}}'),
        ("PLANS", "bi"),
        ("WEBHOOK_DISABLE_SECONDS", "0"),
        ("WEBHOOK_DISABLE_SECONDS", "nan"),
        ("WEBHOOK_RETRY_SCHEDULE", "5,300"),
        ("WEBHOOK_RETRY_SCHEDULE", ""),
        ("WEBHOOK_RETRY_SCHEDULE", "0,nan"),
        ("DELIVERY_RETRY_SCHEDULE", "0,5,0"),
        ("DELIVERY_RETRY_SCHEDULE", "0,soon"),
        ("DELIVERY_RETRY_SCHEDULE", "0" + ",1" * 50),
    ],
)
def test_a_bad_setting_is_named(field: str, value: str) -> None:
    with pytest.raises(SettingsError, match=f"JOBLEDGER_{field}"):
        settings_from(REQUIRED | {f"JOBLEDGER_{field}": value})


def test_of_networks_the_part_is_named_that_is_none() -> None:
    with pytest.raises(SettingsError, match=r"JOBLEDGER_ALLOWED_NETWORKS takes networks.*'fd00::/200' is no network"):
        settings_from(REQUIRED | {"JOBLEDGER_ALLOWED_NETWORKS": "10.0.0.0/8, fd00::/200"})


@pytest.mark.parametrize(
    "dsn",
    [
        "postgresql://u:s3c/r3t@127.0.0.1/x",
        "postgresql://u:12/s3cr3t@127.0.0.1/x",
        "postgresql://u:s3c@r3t/y@127.0.0.1/x",
        "postgresql://u:s3c%r3t@127.0.0.1/x",
        "postgresql://u:s3c r3t@127.0.0.1/x",
        "host=127.0.0.1 password='s3cr3t user=u",
        "postgresql://u@127.0.0.1/x?passwort=s3cr3t",
    ],
)
def test_of_a_connection_string_that_libpq_would_quote_nothing_is_shown(dsn: str) -> None:
    with pytest.raises(SettingsError, match="JOBLEDGER_POSTGRES") as refused:
        settings_from(REQUIRED | {"JOBLEDGER_POSTGRES": dsn})
    assert not re.search("s3c|r3t", str(refused.value))
    assert refused.value.__context__ is None or refused.value.__suppress_context__


@pytest.mark.parametrize(
    "dsn",
    [
        "postgresql://u:s3c%2Fr3t@[::1]:5432,b:5433/x?connect_timeout=3",
        "host=/var/run user=u password='a/b@c' dbname=x",
    ],
)
def test_other_connection_strings_are_libpqs_matter(dsn: str) -> None:
    assert settings_from(REQUIRED | {"JOBLEDGER_POSTGRES": dsn}).postgres == dsn


def test_secrets_stay_out_of_the_printed_settings() -> None:
    registry = {"JOBLEDGER_REGISTRY": "http://u:s3cr3t@127.0.0.1:8081"}
    settings = settings_from(REQUIRED | registry | {"JOBLEDGER_OPERATOR_KEY": "op-key"})
    assert "s3cr3t" not in repr(settings)
    assert "op-key" not in repr(settings)


def test_every_secret_may_lie_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("op-key\n")
    (tmp_path / "dsn").write_text(REQUIRED["JOBLEDGER_POSTGRES"])
    said = {key: value for key, value in REQUIRED.items() if key != "JOBLEDGER_POSTGRES"}
    files = {"JOBLEDGER_OPERATOR_KEY_FILE": f"{tmp_path}/key", "JOBLEDGER_POSTGRES_FILE": f"{tmp_path}/dsn"}
    settings = settings_from(said | files)
    assert (settings.operator_key, settings.postgres) == ("op-key", REQUIRED["JOBLEDGER_POSTGRES"])


def test_a_secret_that_is_said_twice_is_refused_with_both_names() -> None:
    with pytest.raises(SettingsError, match="JOBLEDGER_OPERATOR_KEY and JOBLEDGER_OPERATOR_KEY_FILE are both set"):
        settings_from(REQUIRED | {"JOBLEDGER_OPERATOR_KEY": "op-key", "JOBLEDGER_OPERATOR_KEY_FILE": "/nowhere"})


def test_how_to_connect_to_kafka_is_checked_with_the_other_settings() -> None:
    with pytest.raises(SettingsError, match="JOBLEDGER_KAFKA_USER not set: SASL_SSL needs it"):
        settings_from(
            REQUIRED
            | {"JOBLEDGER_KAFKA_SECURITY_PROTOCOL": "SASL_SSL", "JOBLEDGER_KAFKA_SASL_MECHANISM": "SCRAM-SHA-256"}
        )


@pytest.mark.parametrize("instances", [1, 3, 5])
def test_every_partition_has_exactly_one_owner(instances: int) -> None:
    base = dataclasses.replace(settings_from(REQUIRED), instances=instances)
    owned = [p for n in range(instances) for p in dataclasses.replace(base, instance=n).partitions_owned()]
    assert sorted(owned) == list(range(base.partitions))


def test_only_a_file_url_is_a_local_directory() -> None:
    assert str(blob_directory("file:///var/blobs")) == "/var/blobs"
    assert blob_directory("s3://bucket/prefix") is None


def test_settings_that_go_through_an_environment_are_the_same() -> None:
    for said in ({}, {"JOBLEDGER_ALLOWED_NETWORKS": "10.0.0.0/8,fd00::/8"}):
        settings = settings_from(REQUIRED | said)
        assert settings_from(environ_of(settings)) == settings
