"""Settings of warehouses: what is wrong is named by its field, and no secret is quoted."""

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from services.writers.warehouses.bigquery.settings import BigQuerySettings, ServiceAccount
from services.writers.warehouses.clickhouse_customer.settings import ClickHousePassword, ClickHouseSettings

BIGQUERY = {"project": "acme-data", "dataset": "jobs", "table": "items"}
CLICKHOUSE = {"url": "https://ch.example.com:8443", "database": "jobs", "table": "items", "user": "writer"}


def pem(key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey) -> str:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def test_the_place_of_a_table_is_named_as_people_write_it() -> None:
    assert msgspec.convert(BIGQUERY, BigQuerySettings).place == "acme-data.jobs.items"
    assert msgspec.convert(CLICKHOUSE, ClickHouseSettings).place == "jobs.items"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("project", "Acme"),
        ("project", "a`; DROP"),
        ("dataset", "jobs.items"),
        ("table", "items`"),
        ("table", ""),
        ("endpoint", "bigquery.googleapis.com"),
        ("endpoint", "https://user@example.com"),
    ],
)
def test_a_field_of_bigquery_that_cannot_be_used_is_named(field: str, value: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=f"^{field} takes"):
        msgspec.convert(BIGQUERY | {field: value}, BigQuerySettings)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("url", "ch.example.com"),
        ("url", "https://user:password@ch.example.com"),
        ("database", "1st"),
        ("table", "items`"),
        ("user", ""),
        ("user", "a\r\nb"),
    ],
)
def test_a_field_of_clickhouse_that_cannot_be_used_is_named(field: str, value: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=f"^{field} takes"):
        msgspec.convert(CLICKHOUSE | {field: value}, ClickHouseSettings)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("type", "authorized_user"),
        ("private_key", "no key at all"),
        ("private_key", pem(ec.generate_private_key(ec.SECP256R1()))),
        ("token_uri", "ftp://example.com"),
    ],
)
def test_a_field_of_a_key_file_is_named_and_not_quoted(field: str, value: str) -> None:
    key_file = {
        "type": "service_account",
        "client_email": "a@b",
        "private_key": pem(rsa.generate_private_key(65537, 2048)),
    }
    assert "PRIVATE KEY" not in repr(msgspec.convert(key_file, ServiceAccount))
    with pytest.raises(msgspec.ValidationError, match=f"^{field} takes") as refused:
        msgspec.convert(key_file | {field: value}, ServiceAccount)
    assert value not in str(refused.value)


def test_a_password_that_no_header_takes_is_refused_and_not_quoted() -> None:
    assert "secret" not in repr(ClickHousePassword("secret"))
    with pytest.raises(msgspec.ValidationError, match=r"^password takes") as refused:
        msgspec.convert({"password": "sec\nret"}, ClickHousePassword)
    assert "sec" not in str(refused.value)
