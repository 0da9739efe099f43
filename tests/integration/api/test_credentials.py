"""Provider credentials: written, replaced, listed without their secrets, deleted."""

from dataclasses import replace

import aiohttp
import psycopg
import pytest

from api.config.reseal import reseal
from services.runtime.errors import Unsealable
from services.runtime.kept_secrets import Owner, opened_for
from services.runtime.sealing import Sealer, new_key
from services.runtime.settings import Settings
from tests.integration.api.conftest import Api, Tenant, make_tenant, running
from tests.integration.api.pocket import PocketLedger

PATH = "/api/v1/credentials"
SECRET = "s3cr3t-of-acme"
ZYTE = {"provider": "zyte", "label": "shop", "secret": {"apiKey": SECRET}}
Rows = dict[tuple[str, str], bytes]


def kept(settings: Settings) -> tuple[Rows, str]:
    """Return what is sealed, by org and provider, and everything that the table holds as text."""
    with psycopg.connect(settings.postgres) as connection:
        rows = connection.execute("SELECT org_id, provider, sealed FROM config.provider_credentials").fetchall()
        texts = connection.execute("SELECT c::text FROM config.provider_credentials c").fetchall()
    return {(org, provider): bytes(sealed) for org, provider, sealed in rows}, str(texts)


async def test_a_credential_is_saved_sealed_and_never_shown(api: Api, acme: Tenant, with_operator: Settings) -> None:
    made = await api.call("POST", PATH, acme.key, ZYTE)
    assert (made.status, made.json["provider"], made.json["label"]) == (201, "zyte", "shop")
    listed = await api.call("GET", PATH, acme.key)
    assert listed.json == {"credentials": [made.json]}
    assert SECRET.encode() not in made.body + listed.body
    sealed, text = kept(with_operator)
    assert SECRET not in text
    assert SECRET.encode().hex() not in text
    sealer = Sealer(with_operator.credentials_key)
    assert opened_for(sealer, Owner("provider", "acme", "zyte"), sealed["acme", "zyte"]) == {"apiKey": SECRET}


async def test_saving_again_replaces_and_the_fingerprint_says_whether_it_is_another(api: Api, acme: Tenant) -> None:
    first = (await api.call("POST", PATH, acme.key, ZYTE)).json
    same = await api.call("POST", PATH, acme.key, ZYTE)
    other = await api.call("POST", PATH, acme.key, {**ZYTE, "secret": {"apiKey": "another"}})
    assert (same.status, other.status) == (200, 200)
    assert first["fingerprint"] == same.json["fingerprint"] != other.json["fingerprint"]
    assert other.json["createdAt"] == first["createdAt"] < other.json["updatedAt"]
    assert len((await api.call("GET", PATH, acme.key)).json["credentials"]) == 1


async def test_a_credential_is_deleted(api: Api, acme: Tenant) -> None:
    await api.call("POST", PATH, acme.key, ZYTE)
    assert (await api.call("DELETE", f"{PATH}/zyte", acme.key)).status == 200
    assert (await api.call("DELETE", f"{PATH}/zyte", acme.key)).status == 404
    assert (await api.call("GET", PATH, acme.key)).json == {"credentials": []}


async def test_an_org_sees_and_changes_its_own_only(api: Api, acme: Tenant, rival: Tenant) -> None:
    await api.call("POST", PATH, acme.key, ZYTE)
    assert (await api.call("GET", PATH, rival.key)).json == {"credentials": []}
    assert (await api.call("DELETE", f"{PATH}/zyte", rival.key)).status == 404
    assert (await api.call("POST", PATH, rival.key, ZYTE)).status == 201
    assert len((await api.call("GET", PATH, acme.key)).json["credentials"]) == 1


async def test_credentials_are_a_matter_of_the_scope_admin(api: Api, acme: Tenant) -> None:
    body = {"scopes": ["read", "submit"]}
    key = (await api.call("POST", "/api/v1/keys", acme.key, body)).json["secret"]
    for method, path, sent in (("POST", PATH, ZYTE), ("GET", PATH, None), ("DELETE", f"{PATH}/zyte", None)):
        assert (await api.call(method, path, key, sent)).status == 403


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"provider": "zyte"}, "secret"),
        ({"secret": {"apiKey": SECRET}}, "provider"),
        ({"provider": "direct", "secret": {"apiKey": SECRET}}, "provider"),
        ({"provider": "zyte", "secret": {}}, "secret"),
        ({"provider": "zyte", "secret": {"apiKey": SECRET, "more": SECRET}}, "secret"),
        ({"provider": "zyte", "secret": {"apiKey": f"{SECRET}\r\n"}}, "secret"),
        ({"provider": "zyte", "secret": SECRET}, "secret"),
        ({"provider": "zyte", "secret": {"apiKey": [SECRET]}}, "secret[...]"),
        ({"provider": "zyte", "secret": {"apiKey": SECRET}, "label": "x" * 201}, "label"),
        ({"provider": "zyte", "secret": {"apiKey": SECRET}, "label": "shop\x1b[2J"}, "label"),
        ({"provider": "zyte", "secret": {"apiKey": SECRET}, "label": "shop\n"}, "label"),
    ],
)
async def test_what_cannot_be_kept_is_refused_without_being_quoted(
    api: Api, acme: Tenant, body: dict[str, object], field: str
) -> None:
    answer = await api.call("POST", PATH, acme.key, body)
    assert (answer.status, answer.json["error"], answer.json["field"]) == (422, "invalid_field", field)
    assert SECRET not in answer.json["message"]


async def test_without_a_key_nothing_is_kept(
    with_operator: Settings, pocket: PocketLedger, session: aiohttp.ClientSession
) -> None:
    async with running(replace(with_operator, credentials_key=""), pocket, session) as api:
        acme = await make_tenant(api, "acme")
        answer = await api.call("POST", PATH, acme.key, ZYTE)
        assert (answer.status, answer.json["error"]) == (501, "credentials_disabled")
        assert "JOBLEDGER_CREDENTIALS_KEY" in answer.json["message"]
        assert (await api.call("GET", PATH, acme.key)).json == {"credentials": []}


async def test_credentials_are_sealed_anew_when_keys_rotate(api: Api, acme: Tenant, with_operator: Settings) -> None:
    await api.call("POST", PATH, acme.key, ZYTE)
    newest = new_key()
    assert reseal(with_operator.postgres, Sealer(f"{newest},{with_operator.credentials_key}")) == 1
    sealed, _ = kept(with_operator)
    opened = opened_for(Sealer(newest), Owner("provider", "acme", "zyte"), sealed["acme", "zyte"])
    assert opened == {"apiKey": SECRET}
    with pytest.raises(Unsealable):
        reseal(with_operator.postgres, Sealer(new_key()))
    assert kept(with_operator)[0] == sealed
