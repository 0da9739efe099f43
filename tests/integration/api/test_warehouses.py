"""Warehouses of an org's own: what they are set up with is checked, sealed, shown without secrets, tried."""

from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from api.config import reseal
from services.runtime.kept_secrets import Owner, opened_for
from services.runtime.sealing import Sealer, new_key
from services.runtime.settings import Settings
from tests.conftest import Databases
from tests.integration.api.conftest import Api, Tenant, submit
from tests.integration.api.pocket import PocketLedger

PATH = "/api/v1/destinations"
PASSWORD = "marker-of-a-password"


def own(dsn: str, **settings: Any) -> dict[str, Any]:
    """Return a destination in a Postgres."""
    given = conninfo_to_dict(dsn)
    where = {"host": given["host"], "port": int(str(given["port"])), "database": given["dbname"], "user": given["user"]}
    return {
        "kind": "customer_postgres",
        "destinationId": "own",
        "settings": {**where, "table": "items", "sslmode": "disable", **settings},
        "secrets": {"password": given["password"]},
    }


async def test_a_warehouse_is_set_up_and_shown_without_its_secret(
    api: Api, acme: Tenant, pocket: PocketLedger, settings: Settings
) -> None:
    """Safe to repeat; jobs get it by id and kind only."""
    body = {**own(settings.postgres), "secrets": {"password": PASSWORD}}
    first = await api.call("POST", PATH, acme.key, body)
    again = await api.call("POST", PATH, acme.key, body)
    assert (first.status, first.json) == (201, again.json)
    assert first.json["place"] == f"{body['settings']['database']}.public.items"
    assert first.json["settings"] == {**body["settings"], "schema": "public"}
    assert len(first.json["fingerprint"]) == 8
    listed = await api.call("GET", PATH, acme.key)
    assert PASSWORD not in (first.body + listed.body).decode()
    await submit(api, acme)
    assert PASSWORD not in repr(pocket.commands[-1])
    assert "customer_postgres" in repr(pocket.commands[-1])
    other = await api.call("POST", PATH, acme.key, {**body, "secrets": {"password": "another"}})
    assert (other.status, other.json["error"]) == (409, "destination_exists")


@pytest.mark.parametrize(
    ("wrong", "wrong_secrets", "field"),
    [
        ({"table": "no-name"}, {}, "settings.table"),
        ({"port": 70_000}, {}, "settings.port"),
        ({"port": "high"}, {}, "settings.port"),
        ({"host": "/tmp"}, {}, "settings.host"),
        ({"host": "a,b"}, {}, "settings.host"),
        ({"sslmode": "maybe"}, {}, "settings.sslmode"),
        ({"tabel": "x"}, {}, "settings.tabel"),
        ({}, {"password": ""}, "secrets.password"),
        ({}, {"pass": "x"}, "secrets.pass"),
    ],
)
async def test_what_is_wrong_is_named(
    api: Api, acme: Tenant, databases: Databases, wrong: dict[str, Any], wrong_secrets: dict[str, Any], field: str
) -> None:
    """And quoted by nobody."""
    body = own(f"{databases.server}/somewhere", **wrong)
    refused = await api.call("POST", PATH, acme.key, {**body, "secrets": {**body["secrets"], **wrong_secrets}})
    assert (refused.status, refused.json["error"], refused.json["field"]) == (422, "invalid_field", field)


@pytest.mark.parametrize(
    ("more", "fields"),
    [
        ({}, ["settings.port", "settings.tabel", "secrets.pass", "secrets.password"]),
        ({"gating": 7}, ["gating", "settings.port", "settings.tabel", "secrets.pass", "secrets.password"]),
    ],
)
async def test_everything_that_is_wrong_is_named_at_once(
    api: Api, acme: Tenant, databases: Databases, more: dict[str, Any], fields: list[str]
) -> None:
    body = own(f"{databases.server}/somewhere", port="high", tabel="x")
    refused = await api.call("POST", PATH, acme.key, {**body, "secrets": {"pass": PASSWORD}, **more})
    assert [each["field"] for each in refused.json["problems"]] == fields
    assert PASSWORD not in refused.body.decode()


async def test_secrets_are_sealed_rotated_and_sealed_anew(
    api: Api, acme: Tenant, rival: Tenant, with_operator: Settings
) -> None:
    """A row of one org opens for no other."""
    body = {**own(with_operator.postgres), "secrets": {"password": PASSWORD}}
    before = (await api.call("POST", PATH, acme.key, body)).json["fingerprint"]
    assert (await api.call("PATCH", f"{PATH}/own", rival.key, {"secrets": {"password": "x"}})).status == 404
    changed = await api.call("PATCH", f"{PATH}/own", acme.key, {"secrets": {"password": "rotated"}, "gating": False})
    assert (changed.status, changed.json["gating"]) == (200, False)
    assert changed.json["fingerprint"] != before
    keys = new_key()
    reseal.reseal(with_operator.postgres, Sealer(f"{keys},{with_operator.credentials_key}"))
    with psycopg.connect(with_operator.postgres) as connection:
        [(sealed,)] = connection.execute("SELECT sealed FROM config.destinations WHERE sealed IS NOT NULL").fetchall()
    assert PASSWORD.encode() not in sealed
    assert opened_for(Sealer(keys), Owner("warehouse", "acme", "own"), sealed) == {"password": "rotated"}
    with pytest.raises(Exception, match="another org"):
        opened_for(Sealer(keys), Owner("warehouse", "rival", "own"), sealed)


async def test_a_disabled_one_is_kept_and_given_to_no_job(
    api: Api, acme: Tenant, pocket: PocketLedger, settings: Settings
) -> None:
    """Until it is enabled again."""
    await api.call("POST", PATH, acme.key, own(settings.postgres))
    for enabled in (False, True):
        changed = await api.call("PATCH", f"{PATH}/own", acme.key, {"enabled": enabled})
        assert changed.json["enabled"] is enabled
        await submit(api, acme)
        assert ("customer_postgres" in repr(pocket.commands[-1])) is enabled


async def test_a_destination_is_tried(api: Api, acme: Tenant, databases: Databases) -> None:
    """Its table is made; what is wrong is said, without a secret."""
    url = databases.fresh()
    await api.call("POST", PATH, acme.key, own(url))
    tried = await api.call("POST", f"{PATH}/own/test", acme.key)
    assert (tried.status, tried.json["ok"], tried.json["errorType"]) == (200, True, None)
    assert "_job_id" in tried.json["columns"]
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT count(*) FROM items").fetchall() == [(0,)]
    databases.drop(url)
    refused = await api.call("POST", f"{PATH}/own/test", acme.key)
    assert (refused.json["ok"], refused.json["errorType"]) == (False, "destination_refused")
    assert "no such database" in refused.json["message"]
    await api.call("PATCH", f"{PATH}/own", acme.key, {"secrets": {"password": PASSWORD}})
    refused = await api.call("POST", f"{PATH}/own/test", acme.key)
    assert (refused.json["ok"], refused.json["errorType"]) == (False, "destination_refused")
    assert PASSWORD not in refused.body.decode()
    internal = await api.call("POST", f"{PATH}/internal-postgres/test", acme.key)
    assert (internal.status, internal.json["field"]) == (422, "destination_id")
