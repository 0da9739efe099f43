"""Destinations of an org: added, listed, removed, and given to the jobs that are submitted meanwhile."""

from services.ledger.commands import SubmitJobs
from tests.integration.api.conftest import Api, Tenant, submit
from tests.integration.api.pocket import PocketLedger

LAKE = {"kind": "clickhouse", "destinationId": "lake", "gating": False}
POLICY = {"gating": False, "onExhausted": "hold", "gateSeconds": 0, "enabled": True}
SHOWN = {"kind": "clickhouse", "destinationId": "lake", **POLICY, "place": "", "settings": {}, "fingerprint": None}
PATH = "/api/v1/destinations"


def places(pocket: PocketLedger) -> list[tuple[str, str, bool]]:
    command = pocket.commands[-1]
    assert isinstance(command, SubmitJobs)
    return [(each.destination_id, each.kind, each.gating) for each in command.destinations]


async def test_a_destination_is_given_to_jobs_submitted_while_it_is_there(
    api: Api, acme: Tenant, pocket: PocketLedger
) -> None:
    for _ in range(2):  # safe to repeat
        added = await api.call("POST", PATH, acme.key, LAKE)
        assert (added.status, added.json) == (201, SHOWN)
    await submit(api, acme)
    assert places(pocket) == [("internal-postgres", "postgres", True), ("lake", "clickhouse", False)]
    listed = (await api.call("GET", PATH, acme.key)).json["destinations"]
    assert [each["destinationId"] for each in listed] == ["internal-postgres", "lake"]
    assert (await api.call("DELETE", f"{PATH}/lake", acme.key)).status == 200
    await submit(api, acme)
    assert places(pocket) == [("internal-postgres", "postgres", True)]


async def test_another_destination_of_the_same_id_is_refused(api: Api, acme: Tenant) -> None:
    await api.call("POST", PATH, acme.key, LAKE)
    other = await api.call("POST", PATH, acme.key, {**LAKE, "gating": True})
    assert (other.status, other.json["error"]) == (409, "destination_exists")


async def test_the_internal_destination_stays(api: Api, acme: Tenant) -> None:
    assert (await api.call("DELETE", f"{PATH}/internal-postgres", acme.key)).status == 404


async def test_a_kind_that_is_not_there_is_refused(api: Api, acme: Tenant) -> None:
    refused = await api.call("POST", PATH, acme.key, {"kind": "fax"})
    assert (refused.status, refused.json["error"], refused.json["field"]) == (422, "invalid_field", "kind")


async def test_a_setting_that_the_kind_does_not_have_is_refused_by_its_name(api: Api, acme: Tenant) -> None:
    refused = await api.call("POST", PATH, acme.key, {**LAKE, "settings": {"table": "mine"}})
    assert (refused.status, refused.json["error"], refused.json["field"]) == (422, "invalid_field", "settings.table")
    assert "extraction_results" in refused.json["message"]
    assert (await api.call("POST", PATH, acme.key, {**LAKE, "settings": {}})).status == 201


async def test_a_destination_is_changed_for_jobs_submitted_from_then_on_but_never_the_internal_one(
    api: Api, acme: Tenant, rival: Tenant, pocket: PocketLedger
) -> None:
    await api.call("POST", PATH, acme.key, LAKE)
    await submit(api, acme)
    changed = await api.call("PATCH", f"{PATH}/lake", acme.key, {"gating": True, "gateSeconds": 60})
    assert (changed.status, changed.json) == (200, {**SHOWN, "gating": True, "gateSeconds": 60})
    assert (await api.call("GET", f"{PATH}/lake", acme.key)).json == changed.json
    assert places(pocket)[1] == ("lake", "clickhouse", False)
    await submit(api, acme)
    assert places(pocket)[1] == ("lake", "clickhouse", True)
    assert (await api.call("GET", f"{PATH}/internal-postgres", acme.key)).status == 200
    for name, key in (("internal-postgres", acme.key), ("lake", rival.key), ("none", acme.key)):
        assert (await api.call("PATCH", f"{PATH}/{name}", key, {"gating": False})).status == 404
    wrong = await api.call("PATCH", f"{PATH}/lake", acme.key, {"onExhausted": "never", "gateSeconds": -1})
    assert [each["field"] for each in wrong.json["problems"]] == ["onExhausted", "gateSeconds"]
