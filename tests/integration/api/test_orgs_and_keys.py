"""Orgs and API keys."""

import psycopg

from api import auth
from services.ledger.commands import ChangeOrgLimit, RegisterOrg
from services.runtime.settings import Settings
from services.runtime.topics import partition_of_org
from tests.eventually import eventually
from tests.integration.api.conftest import OPERATOR, Answered, Api, StartApi, Tenant
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
    assert (await api.call("GET", "/api/v1/jobs", made["secret"])).status == 401, "by the one that was asked, at once"
    ended = (await api.call("POST", "/api/v1/keys", acme.key)).json
    assert (await api.call("GET", "/api/v1/jobs", ended["secret"])).status == 200
    rotate = f"/api/v1/keys/{ended['keyId']}/rotate"
    assert (await api.call("POST", rotate, acme.key, {"overlapSeconds": 0})).status == 201
    assert (await api.call("GET", "/api/v1/jobs", ended["secret"])).status == 401
    assert auth.TRUST_SECONDS <= 5  # that the cache forgets by then is tested with a clock, in tests/unit/api


async def test_a_rotated_key_works_beside_its_successor_until_it_expires(
    api: Api, acme: Tenant, rival: Tenant, start_api: StartApi, with_operator: Settings
) -> None:
    made = (await api.call("POST", "/api/v1/keys", acme.key, {"name": "ci", "scopes": ["read"]})).json
    rotated = await api.call("POST", f"/api/v1/keys/{made['keyId']}/rotate", acme.key, {"overlapSeconds": 3600})
    assert (rotated.status, rotated.json["name"], rotated.json["scopes"]) == (201, "ci", ["read"])
    assert rotated.headers["Cache-Control"] == "no-store"
    for secret in (made["secret"], rotated.json["secret"]):
        assert (await api.call("GET", "/api/v1/jobs", secret)).status == 200
    listed = {key["keyId"]: key for key in (await api.call("GET", "/api/v1/keys", acme.key)).json["keys"]}
    assert listed[made["keyId"]]["expiresAt"] > listed[made["keyId"]]["createdAt"]
    assert listed[rotated.json["keyId"]]["expiresAt"] is None
    assert listed[made["keyId"]]["lastUsedAt"] > listed[made["keyId"]]["createdAt"]
    with psycopg.connect(with_operator.postgres) as connection:
        connection.execute("UPDATE config.api_keys SET expires_at = now() WHERE key_id = %s", (made["keyId"],))
    async with start_api() as fresh:  # it has not looked the key up before
        assert (await fresh.call("GET", "/api/v1/jobs", made["secret"])).status == 401
        assert (await fresh.call("GET", "/api/v1/jobs", rotated.json["secret"])).status == 200
    for key_id, key in ((made["keyId"], acme.key), (rotated.json["keyId"], rival.key), ("0" * 16, acme.key)):
        assert (await api.call("POST", f"/api/v1/keys/{key_id}/rotate", key)).status == 404


async def test_a_second_rotation_does_not_make_the_old_key_live_longer(api: Api, acme: Tenant) -> None:
    made = (await api.call("POST", "/api/v1/keys", acme.key)).json
    told = []
    for overlap in (60, 3600):
        path = f"/api/v1/keys/{made['keyId']}/rotate"
        assert (await api.call("POST", path, acme.key, {"overlapSeconds": overlap})).status == 201
        found = (await api.call("GET", "/api/v1/keys", acme.key)).json["keys"]
        told += [key["expiresAt"] for key in found if key["keyId"] == made["keyId"]]
    assert told[0] == told[1]


async def test_a_key_that_calls_too_much_is_told_to_wait_and_another_org_is_not(
    api: Api, acme: Tenant, rival: Tenant
) -> None:
    limit = "/api/v1/orgs/acme/call-limit"
    changed = await api.call("PUT", limit, OPERATOR, {"callsPerSecond": 0.01})
    assert (changed.status, changed.json) == (200, {"orgId": "acme", "callsPerSecond": 0.01})
    assert (await api.call("PUT", "/api/v1/orgs/nobody/call-limit", OPERATOR, {"callsPerSecond": 1})).status == 404

    heard: list[Answered] = []

    async def refused() -> bool:  # once the key is looked up again, and the one call that is left is made
        heard.append(await api.call("GET", "/api/v1/jobs", acme.key))
        return heard[-1].status == 429

    await eventually(refused, 30)
    answer = heard[-1]
    assert answer.json["error"] == "rate_limited"
    assert 1 <= int(answer.headers["Retry-After"]) <= 100
    assert answer.headers["RateLimit-Policy"].startswith('"key";q=')
    assert answer.headers["RateLimit"].startswith('"key";r=0;t=')
    fine = await api.call("GET", "/api/v1/jobs", rival.key)
    assert (fine.status, fine.headers["RateLimit-Policy"]) == (200, '"key";q=500;w=2, "org";q=1000;w=2')


async def test_who_guesses_keys_is_told_to_wait_and_a_key_in_use_from_the_same_address_is_not(
    api: Api, acme: Tenant
) -> None:
    said = [(await api.call("GET", "/api/v1/jobs", f"jlk_{number:016x}_{'0' * 64}")).status for number in range(200)]
    assert said[:20] == [401] * 20
    assert 429 in said
    answer = await api.call("GET", "/api/v1/jobs", "jlk_" + "f" * 16 + "_" + "0" * 64)
    assert (answer.status, answer.json["error"], answer.headers["Retry-After"]) == (429, "rate_limited", "1")
    assert (await api.call("GET", "/api/v1/jobs", acme.key)).status == 200
