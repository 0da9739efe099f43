"""Settings and secrets of warehouses name the field that is wrong, and secrets show nothing of themselves."""

from collections.abc import Mapping

import msgspec
import pytest

from services.writers.warehouses.customer_postgres.settings import PostgresSettings
from services.writers.warehouses.databricks.settings import DatabricksSecrets, DatabricksSettings
from services.writers.warehouses.snowflake.settings import SnowflakeSecrets, SnowflakeSettings

SNOWFLAKE = {
    "account": "myorg-my_account",
    "user": "LOADER",
    "database": "raw",
    "schema": "jobs",
    "table": "items",
    "warehouse": "load_wh",
}
POSTGRES = {"host": "db.example", "database": "shop", "user": "writer", "table": "items"}
DATABRICKS = {
    "host": "adb-1.azuredatabricks.net",
    "warehouseId": "abc123",
    "catalog": "main",
    "schema": "jobs",
    "table": "items",
}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("account", "https://myorg.snowflakecomputing.com"),
        ("account", ""),
        ("user", ""),
        ("database", 'raw"; DROP TABLE x; --'),
        ("schema", "a.b"),
        ("table", "1table"),
        ("warehouse", ""),
        ("role", "a role"),
        ("host", "https://host"),
    ],
)
def test_a_wrong_setting_of_snowflake_is_named(field: str, value: str) -> None:
    """Before anything is said to the server."""
    with pytest.raises(msgspec.ValidationError, match=f"^{field} takes"):
        msgspec.convert(SNOWFLAKE | {field: value}, SnowflakeSettings)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("host", "https://adb-1.azuredatabricks.net"),
        ("host", "host:443"),
        ("warehouseId", "../x"),
        ("catalog", "a`b"),
        ("schema", ""),
        ("table", "a.b"),
    ],
)
def test_a_wrong_setting_of_databricks_is_named(field: str, value: str) -> None:
    """Before anything is said to the server."""
    with pytest.raises(msgspec.ValidationError, match=f"^{field} takes"):
        msgspec.convert(DATABRICKS | {field: value}, DatabricksSettings)


@pytest.mark.parametrize("token", ["a\r\nX: y", "dapi\n", "dapì"])
def test_a_token_that_cannot_go_out_in_a_header_is_refused_and_not_quoted(token: str) -> None:
    """A line's end in it once made every delivery a bug of the writer."""
    with pytest.raises(msgspec.ValidationError, match=r"^token, clientId and clientSecret are printable") as refused:
        msgspec.convert({"token": token}, DatabricksSecrets)
    assert "dap" not in str(refused.value)


@pytest.mark.parametrize("host", ["db.example:5432", "http://db", "a,b", "/var/run", "u@db", "db ", "x" * 300, ""])
def test_a_host_of_postgres_that_is_none_is_named(host: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=r"^host takes"):
        msgspec.convert(POSTGRES | {"host": host}, PostgresSettings)


@pytest.mark.parametrize("host", ["db.example", "10.0.0.1", "::1", "fd00::5"])
def test_a_host_of_postgres_is_a_name_or_an_address(host: str) -> None:
    assert msgspec.convert(POSTGRES | {"host": host}, PostgresSettings).host == host


def test_unknown_fields_are_refused() -> None:
    """They may be misspelt."""
    with pytest.raises(msgspec.ValidationError, match="unknown field `tabel`"):
        msgspec.convert(SNOWFLAKE | {"tabel": "x"}, SnowflakeSettings)


def test_the_place_is_the_table_as_its_warehouse_names_it() -> None:
    """Snowflake in upper case, Databricks in lower case."""
    assert msgspec.convert(SNOWFLAKE, SnowflakeSettings).place == "RAW.JOBS.ITEMS"
    assert msgspec.convert(DATABRICKS, DatabricksSettings).place == "main.jobs.items"


def test_an_account_leads_to_its_host() -> None:
    """Hosts have no underscores."""
    assert msgspec.convert(SNOWFLAKE, SnowflakeSettings).reached_at == "myorg-my-account.snowflakecomputing.com"


@pytest.mark.parametrize(
    "secrets",
    [
        {},
        {"password": "a", "token": "b"},
        {"privateKey": "a", "password": "b"},
        {"token": "a", "privateKeyPassphrase": "b"},
    ],
)
def test_there_is_one_way_to_log_in_to_snowflake(secrets: Mapping[str, str]) -> None:
    """Not none, and not two."""
    with pytest.raises(msgspec.ValidationError, match="privateKey"):
        msgspec.convert(secrets, SnowflakeSecrets)


@pytest.mark.parametrize(
    "secrets", [{}, {"token": "a", "clientId": "b", "clientSecret": "c"}, {"clientId": "b"}, {"clientSecret": "c"}]
)
def test_there_is_one_way_to_log_in_to_databricks(secrets: Mapping[str, str]) -> None:
    """Not none, not two, and not half of one."""
    with pytest.raises(msgspec.ValidationError, match="clientId and clientSecret"):
        msgspec.convert(secrets, DatabricksSecrets)


def test_secrets_show_nothing_of_themselves() -> None:
    """Wherever they are printed."""
    assert "marker" not in repr([SnowflakeSecrets(password="marker"), DatabricksSecrets(token="marker")])
