"""Orgs and API keys."""

import psycopg

from api import auth
from services.ledger.commands import ChangeOrgLimit, RegisterOrg
from services.runtime.settings import Settings
from services.runtime.topics import partition_of_org
from tests.integration.api.conftest import OPERATOR, Api, Tenant
from tests.integration.api.pocket import PocketLedger


async def test_registering_an_org_tells_the_ledger_and_shows_a_key_that_works(
    api: Api, pocket: PocketLedger, with_operator: Settings
) -> None:
    body = {"orgId": "acme", "name": "Acme", "plan": "bi", "maxInFlight": 9}
    made = await api.call("POST", "/api/v1/orgs", OPERATOR, body)
    assert (made.status, made.json["plan"], made.json["maxInFlight"]) == (201, "bi", 9)
    command = pocket.commands[-1]
    assert isinstance(command, RegisterOrg)
    assert (command.org_id, command.plan, command.max_in_flight) == ("acme", "bi", 9)
    assert made.json["partition"] == partition_of_org("acme", with_operator.partitions)
    assert made.json["key"]["scopes"] == ["read", "submit", "admin"]
    assert (await api.call("GET", "/api/v1/jobs", made.json["key"]["secret"])).status == 200


async def test_the_database_never_holds_a_secret(api: Api, acme: Tenant, with_operator: Settings) -> None:
    secret = acme.key.rpartition("_")[2]
    with psycopg.connect(with_operator.postgres) as connection:
        rows = connection.execute("SELECT k::text, k.digest FROM config.api_keys k").fetchall()
    assert rows
    assert not any(secret in text or bytes.fromhex(secret) == digest for text, digest in rows)


async def test_a_registration_that_the_ledger_did_not_answer_can_be_repeated(api: Api, pocket: PocketLedger) -> None:
    body = {"orgId": "acme", "name": "Acme"}
    pocket.down = True
    assert (await api.call("POST", "/api/v1/orgs", OPERATOR, body)).status == 503
    assert (await api.call("GET", "/api/v1/orgs", OPERATOR)).json == {"orgs": []}
    pocket.down = False
    assert (await api.call("POST", "/api/v1/orgs", OPERATOR, body)).status == 201
    again = await api.call("POST", "/api/v1/orgs", OPERATOR, body)
    assert (again.status, again.json["error"], again.json["field"]) == (409, "org_exists", "orgId")


async def test_the_cap_of_an_org_is_changed_in_the_ledger_and_shown(
    api: Api, acme: Tenant, pocket: PocketLedger
) -> None:
    changed = await api.call("PATCH", "/api/v1/orgs/acme", OPERATOR, {"maxInFlight": 17})
    assert (changed.status, changed.json["maxInFlight"]) == (200, 17)
    assert isinstance(pocket.commands[-1], ChangeOrgLimit)
    assert [org["maxInFlight"] for org in (await api.call("GET", "/api/v1/orgs", OPERATOR)).json["orgs"]] == [17]
    assert (await api.call("PATCH", "/api/v1/orgs/nobody", OPERATOR, {"maxInFlight": 17})).status == 404
    assert (await api.call("PATCH", "/api/v1/orgs/acme", OPERATOR, {"maxInFlight": 0})).status == 422


async def test_a_key_does_what_its_scopes_allow_and_nothing_else(api: Api, acme: Tenant) -> None:
    made = await api.call("POST", "/api/v1/keys", acme.key, {"name": "reader", "scopes": ["read"]})
    reader = made.json["secret"]
    assert (await api.call("GET", "/api/v1/jobs", reader)).status == 200
    for method, path, key in (
        ("POST", "/api/v1/jobs", reader),
        ("POST", "/api/v1/keys", reader),
        ("GET", "/api/v1/orgs", acme.key),
        ("GET", "/api/v1/jobs", OPERATOR),
    ):
        answer = await api.call(method, path, key, {} if method == "POST" else None)
        assert (answer.status, answer.json["error"]) == (403, "forbidden")


async def test_a_revoked_key_is_refused_by_every_instance_within_seconds(api: Api, acme: Tenant) -> None:
    made = (await api.call("POST", "/api/v1/keys", acme.key)).json
    assert (await api.call("GET", "/api/v1/jobs", made["secret"])).status == 200
    revoked = await api.call("DELETE", f"/api/v1/keys/{made['keyId']}", acme.key)
    assert (revoked.status, revoked.json["revokedAt"] is None) == (200, False)
    listed = (await api.call("GET", "/api/v1/keys", acme.key)).json["keys"]
    assert [key["revokedAt"] is None for key in listed] == [True, False]
    assert auth.TRUST_SECONDS <= 5  # that the cache forgets by then is tested with a clock, in tests/unit/api
