"""What all calls about spiders have in common: the prefix, the keys, whose things are seen, and how errors look."""

from dataclasses import replace
from typing import Any

import aiohttp
import pytest

from services.runtime.settings import Settings
from tests.integration.api.conftest import OPERATOR, Api, Tenant, running
from tests.integration.api.pocket import PocketLedger


async def orgs_of(api: Api, key: str, prefix: str = "/spider") -> list[str]:
    """Return the slugs of the orgs that a key sees."""
    answer = await api.call("GET", f"{prefix}/orgs", key)
    assert answer.status == 200, answer.json
    return [org["slug"] for org in answer.json["orgs"]]


async def test_health_takes_no_key_and_all_else_does(api: Api) -> None:
    assert (await api.call("GET", "/spider/health")).json == {"status": "ok"}
    refused = await api.call("GET", "/spider/orgs")
    assert (refused.status, list(refused.json)) == (401, ["detail"])
    assert refused.headers["WWW-Authenticate"].startswith("Bearer")


async def test_a_key_of_an_org_sees_that_org_and_the_operator_all(api: Api, acme: Tenant, rival: Tenant) -> None:
    assert await orgs_of(api, acme.key) == ["acme"]
    assert await orgs_of(api, acme.key.replace("jlk_", "sk_")) == ["acme"]
    assert sorted(await orgs_of(api, OPERATOR)) == ["acme", "rival"]


async def test_an_org_is_registered_with_its_slots_and_retention_and_its_key_works(
    api: Api, pocket: PocketLedger
) -> None:
    body = {"slug": "shop", "name": "Shop", "concurrency_slots": 3, "retention_days": 2}
    made = await api.call("POST", "/spider/orgs", OPERATOR, body)
    assert (made.status, made.headers["Cache-Control"]) == (201, "no-store")
    key = made.json.pop("api_key")
    assert key.startswith("sk_")
    assert (made.json.pop("created_at"), made.json.pop("plan")) != ("", "")
    assert made.json == {"slug": "shop", "name": "Shop", "concurrency_slots": 3, "retention_days": 2}
    assert await orgs_of(api, key) == ["shop"]
    limits = [each.retention_seconds for each in pocket.commands if hasattr(each, "retention_seconds")]
    assert limits == [2 * 86_400]
    again = await api.call("POST", "/spider/orgs", OPERATOR, body)
    assert (again.status, again.json["detail"]["errors"][0]["field"]) == (409, "orgId")
    assert (await api.call("POST", "/spider/orgs", key, body)).status == 403


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "field"),
    [
        ("GET", "/spider/nothing", None, 404, None),
        ("GET", "/spider", None, 404, None),
        ("DELETE", "/spider/orgs", None, 405, None),
        ("POST", "/spider/orgs", {"name": "x"}, 422, "slug"),
        ("POST", "/spider/orgs", {"slug": "x", "name": "x", "orgId": "x"}, 422, "orgId"),
        ("POST", "/spider/orgs", {"slug": "Not a slug", "name": "x"}, 422, "slug"),
        ("GET", "/spider/orgs?limit=2", None, 422, "limit"),
    ],
)
async def test_an_error_is_a_detail(
    api: Api, method: str, path: str, body: dict[str, Any] | None, status: int, field: str | None
) -> None:
    answer = await api.call(method, path, OPERATOR, body)
    assert (answer.status, list(answer.json)) == (status, ["detail"])
    if field:
        assert [each["field"] for each in answer.json["detail"]["errors"]] == [field]
    else:
        assert isinstance(answer.json["detail"], str)


async def test_the_api_of_spiders_is_served_where_the_setting_says(
    with_operator: Settings, pocket: PocketLedger, session: aiohttp.ClientSession
) -> None:
    settings = replace(with_operator, spider_prefix="/crawl/v2")
    async with running(settings, pocket, session) as api:
        assert await orgs_of(api, OPERATOR, "/crawl/v2") == []
        gone = await api.call("GET", "/spider/orgs", OPERATOR)
        assert (gone.status, gone.json["error"]) == (404, "not_found")
        assert list((await api.call("GET", "/crawl/v2/nothing", OPERATOR)).json) == ["detail"]
        described = (await api.call("GET", "/api/v1/openapi.json")).json["paths"]
        assert "/crawl/v2/orgs" in described
        assert not any(path.startswith("/spider") for path in described)
