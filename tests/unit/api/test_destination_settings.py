"""All that is wrong with the settings and secrets of a warehouse is named at once."""

from types import SimpleNamespace
from typing import Any

import pytest

from api import requests
from api.auth import Caller
from api.errors import Problem
from api.routes import destinations
from services.runtime.sealing import new_key
from services.runtime.settings import Settings

SETTINGS = Settings(kafka="", postgres="", registry="", blobs="", credentials_key=new_key())

PLACES: dict[str, dict[str, dict[str, Any]]] = {  # each value is of its type, and at fault
    "customer_postgres": {
        "settings": {"port": 0, "host": "/tmp", "database": "", "user": "", "table": "1", "schema": "A"},
        "secrets": {"password": ""},
    },
    "customer_clickhouse": {
        "settings": {"url": "x", "database": "1", "table": "`", "user": ""},
        "secrets": {"password": "a\n"},
    },
    "bigquery": {
        "settings": {"project": "A", "dataset": "-", "table": "", "endpoint": "x"},
        "secrets": {"client_email": "a@b", "private_key": "x", "token_uri": "x", "type": "x"},
    },
    "snowflake": {
        "settings": {
            **dict.fromkeys(("database", "schema", "table", "warehouse", "role"), "1"),
            "account": "/",
            "user": "",
            "host": "/",
        }
    },
    "databricks": {"settings": {"host": "/", "warehouseId": "-", "catalog": "`", "schema": "`", "table": "`"}},
}


def wanted_of(kind: str) -> list[str]:
    """Return the fields that are at fault."""
    named = (f"{what}.{name}" for what, fields in PLACES[kind].items() for name in fields)
    return sorted(each for each in named if each != "secrets.client_email")


def named_of_a_destination(given: dict[str, Any]) -> list[str]:
    """Return the fields of settings and secrets that are named beside what else is wrong with a body."""
    [add] = [each for each in destinations.OPERATIONS if each.handler is destinations.add]
    assert add.faults
    found = add.faults(SETTINGS, given)
    return [problem.body["field"] for problem in found]


@pytest.mark.parametrize("kind", PLACES)
def test_everything_in_settings_and_secrets_of_a_warehouse_that_is_at_fault_is_named(kind: str) -> None:
    assert sorted(named_of_a_destination({**PLACES[kind], "kind": kind})) == wanted_of(kind)


def test_a_field_of_a_warehouse_that_is_of_a_wrong_type_hides_no_other() -> None:
    place = {"host": "/tmp", "port": "high", "database": "d", "user": "u", "tabel": "t"}
    found = named_of_a_destination({"kind": "customer_postgres", "settings": place})
    assert found == ["settings.port", "settings.tabel", "settings.table", "settings.host"]


def test_what_is_not_read_of_a_key_file_is_no_fault() -> None:
    key_file = {**PLACES["bigquery"]["secrets"], "project_id": "p", "auth_uri": "https://accounts.example"}
    found = named_of_a_destination({"kind": "bigquery", "secrets": key_file})
    assert sorted(found) == ["secrets.private_key", "secrets.token_uri", "secrets.type"]


@pytest.mark.parametrize("kind", PLACES)
async def test_everything_is_named_also_where_the_rest_of_the_body_is_fine(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nobody(*_: object) -> None:
        """Bound no kind to a plan."""

    monkeypatch.setattr("api.config.orgs.find", nobody)
    call: Any = SimpleNamespace(parts=SimpleNamespace(settings=SETTINGS, pool=None), caller=Caller(org_id="acme"))
    call.body = requests.AddDestination(kind=kind, **PLACES[kind])  # type: ignore[arg-type]
    with pytest.raises(Problem) as refused:
        await destinations.add(call)
    named = [each["field"] for each in refused.value.body["problems"]]
    assert set(named) >= set(wanted_of(kind))
