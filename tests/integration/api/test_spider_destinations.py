"""Destinations of spiders: added to a project with sealed secrets, numbered, listed, removed, apart from all others."""

from typing import Any

import psycopg
import pytest

from services.runtime.kept_secrets import Owner, opened_for
from services.runtime.sealing import Sealer
from services.runtime.settings import Settings
from tests.integration.api.conftest import OPERATOR, Api, Tenant, submit
from tests.integration.api.pocket import PocketLedger
from tests.integration.api.spider_work import LAKE, make_destination, make_project
from tests.integration.api.test_destinations import places

PATH = "/spider/destinations"


async def listed(api: Api, key: str, query: str = "") -> list[Any]:
    """Return the ids that a key sees."""
    answer = await api.call("GET", PATH + query, key)
    assert answer.status == 200, answer.json
    return [each["id"] for each in answer.json["destinations"]]


async def test_a_destination_has_a_number_its_settings_and_sealed_secrets(
    api: Api, acme: Tenant, with_operator: Settings
) -> None:
    await make_project(api, acme)
    made = await make_destination(api, acme)
    number = made.pop("id")
    assert isinstance(number, int)
    assert made.pop("fingerprint")
    secret = LAKE["password"]
    settings = {name: value for name, value in LAKE.items() if value != secret}
    assert made.pop("settings").items() >= settings.items()
    assert made == {
        "org": "acme",
        "project": "shop",
        "name": "lake",
        "kind": "customer_postgres",
        "place": "lake.public.items",
        "enabled": True,
    }
    with psycopg.connect(with_operator.postgres) as connection:
        found = connection.execute(
            "SELECT destination_id, gating, sealed, d::text FROM config.destinations d WHERE number = %s", (number,)
        ).fetchall()
    [(destination_id, gating, sealed, text)] = found
    owner = Owner("warehouse", "acme", destination_id)
    assert opened_for(Sealer(with_operator.credentials_key), owner, sealed) == {"password": secret}
    assert (gating, secret in text + str(made)) == (False, False)


async def test_it_is_listed_and_removed_by_its_org_and_the_operator_and_is_no_destination_of_other_jobs(
    api: Api, acme: Tenant, rival: Tenant, pocket: PocketLedger
) -> None:
    for project in ("shop", "other"):
        await make_project(api, acme, project)
    first, second = (await make_destination(api, acme))["id"], (await make_destination(api, acme, "other"))["id"]
    assert await listed(api, acme.key) == await listed(api, OPERATOR) == [first, second]
    assert await listed(api, acme.key, "?project=other") == await listed(api, OPERATOR, "?org=acme&project=other")
    assert await listed(api, rival.key) == []
    own = (await api.call("GET", "/api/v1/destinations", acme.key)).json["destinations"]
    assert [each["destinationId"] for each in own] == ["internal-postgres"]
    await submit(api, acme)
    assert places(pocket) == [("internal-postgres", "postgres", True)]
    for key, number in ((rival.key, first), (acme.key, 0), (acme.key, "x"), (OPERATOR, 10**15)):
        assert (await api.call("DELETE", f"{PATH}/{number}", key)).status == 404
    assert (await api.call("DELETE", f"{PATH}/{first}?org=acme", rival.key)).status == 403
    removed = await api.call("DELETE", f"{PATH}/{first}", acme.key)
    assert (removed.status, removed.json) == (200, {"id": first, "deleted": True})
    assert (await api.call("DELETE", f"{PATH}/{second}", OPERATOR)).status == 200
    assert await listed(api, acme.key) == []


async def test_it_goes_with_its_project(api: Api, acme: Tenant, pocket: PocketLedger) -> None:
    await make_project(api, acme)
    await make_destination(api, acme)
    pocket.project()
    assert (await api.call("DELETE", "/spider/projects/acme/shop", acme.key)).status == 200
    assert await listed(api, acme.key) == []


@pytest.mark.parametrize(
    ("change", "status", "field"),
    [
        ({"kind": "fax"}, 422, "kind"),
        ({"kind": "clickhouse"}, 422, "kind"),
        ({"settings": {**LAKE, "colour": "red"}}, 422, "settings.colour"),
        ({"settings": {**LAKE, "password": ""}}, 422, "secrets.password"),
        ({"settings": {**LAKE, "port": 0}}, 422, "settings.port"),
        ({"gating": True}, 422, "gating"),
        ({"project": "nothing"}, 404, None),
    ],
)
async def test_what_cannot_be_one_is_refused_with_its_field(
    api: Api, acme: Tenant, change: dict[str, Any], status: int, field: str | None
) -> None:
    await make_project(api, acme)
    body = {"project": "shop", "name": "lake", "kind": "customer_postgres", "settings": LAKE, **change}
    refused = await api.call("POST", PATH, acme.key, body)
    assert refused.status == status, refused.json
    if field:
        assert [each["field"] for each in refused.json["detail"]["errors"]] == [field]
    assert await listed(api, acme.key) == []
