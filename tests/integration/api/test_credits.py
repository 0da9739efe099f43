"""Plans and credits over HTTP: the operator gives, submissions take, and nobody takes what is another's."""

import asyncio
from typing import Any

import pytest
from typer.testing import CliRunner

from api import submission
from schemas.events import JobSubmitted
from services.cli.__main__ import app
from services.ledger.commands import GrantCredits, RegisterOrg, SubmitJobs
from services.ledger.credits import MAX_CREDITS
from tests.integration.api.conftest import OPERATOR, Answered, Api, Tenant, submit
from tests.integration.api.pocket import PocketLedger

LAKE = {"kind": "clickhouse", "destinationId": "lake"}


async def give(api: Api, body: dict[str, Any], key: str = "", org_id: str = "acme") -> Answered:
    """The operator changes credits."""
    headers = {"Idempotency-Key": key} if key else {}
    return await api.call("POST", f"/api/v1/orgs/{org_id}/credits", OPERATOR, body, headers=headers)


async def post(api: Api, tenant: Tenant, urls: int = 1, key: str = "") -> Answered:
    """Submit so many jobs."""
    body = {"urls": [f"https://shop.example/{number}" for number in range(urls)], "workflowId": "products"}
    return await api.call("POST", "/api/v1/jobs", tenant.key, body, headers={"Idempotency-Key": key} if key else {})


async def test_a_registration_may_name_a_plan_and_a_first_balance(api: Api, pocket: PocketLedger) -> None:
    body = {"orgId": "rich", "name": "Rich", "plan": "prepaid", "credits": 7}
    made = await api.call("POST", "/api/v1/orgs", OPERATOR, body)
    assert (made.status, made.json["plan"], made.json["maxInFlight"]) == (201, "prepaid", 5)
    command = pocket.commands[-1]
    assert isinstance(command, RegisterOrg)
    assert (command.plan, command.credits) == ("prepaid", 7)
    for field, wrong in (("plan", "gold"), ("credits", -1), ("credits", MAX_CREDITS + 1), ("credits", 10**30)):
        refused = await api.call("POST", "/api/v1/orgs", OPERATOR, {**body, "orgId": "other", field: wrong})
        assert (refused.status, refused.json["field"]) == (422, field)


async def test_an_org_as_it_was_registered_before_there_were_credits_goes_on_without(api: Api, acme: Tenant) -> None:
    assert (await post(api, acme, 50)).status == 201


async def test_a_submission_that_cannot_be_paid_says_what_is_left_and_what_it_takes(api: Api, acme: Tenant) -> None:
    given = await give(api, {"grant": 3})
    assert (given.status, given.json) == (
        200,
        {"orgId": "acme", "plan": "bi", "metered": True, "remainingCredits": 3},
    )
    refused = await post(api, acme, 4)
    assert (refused.status, refused.json["error"]) == (402, "quota_exhausted")
    assert (refused.json["askedCredits"], refused.json["remainingCredits"]) == (4, 3)
    assert (await post(api, acme, 3, "k")).status == 201
    again = await post(api, acme, 3, "k")
    assert (again.status, again.headers["Idempotency-Replayed"]) == (200, "true")
    assert (await give(api, {"set": 0})).json["remainingCredits"] == 0


async def test_submissions_at_once_never_take_more_than_there_is(api: Api, acme: Tenant) -> None:
    await give(api, {"grant": 5})
    answers = await asyncio.gather(*(post(api, acme) for _ in range(12)))
    assert sorted(answer.status for answer in answers) == [201] * 5 + [402] * 7


async def test_a_submission_of_many_commands_is_paid_as_a_whole(
    api: Api, acme: Tenant, pocket: PocketLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submission, "JOBS_PER_COMMAND", 2)
    await give(api, {"grant": 6})
    assert (await post(api, acme, 7)).status == 402
    assert (await post(api, acme, 5)).status == 201
    parts = [command for command in pocket.commands if isinstance(command, SubmitJobs)][-3:]
    assert [command.jobs_behind for command in parts] == [3, 0, 0]
    assert {command.first_digest for command in parts[1:]} == {parts[0].idempotency_digest}
    assert (await post(api, acme, 1)).status == 201
    assert (await post(api, acme, 1)).status == 402


async def test_a_grant_counts_once_for_its_key(api: Api, acme: Tenant, pocket: PocketLedger) -> None:
    for _ in range(2):
        given = await give(api, {"grant": 5}, "invoice-1")
        assert (given.json["remainingCredits"], given.headers["Idempotency-Key"]) == (5, "invoice-1")
    conflict = await give(api, {"grant": 6}, "invoice-1")
    assert (conflict.status, conflict.json["field"]) == (409, "Idempotency-Key")
    assert (await give(api, {"grant": 1})).json["remainingCredits"] == 6
    pocket.down = True
    away = await give(api, {"grant": 1}, "invoice-2")
    assert (away.status, away.headers["Idempotency-Key"]) == (503, "invoice-2")
    assert len([command for command in pocket.commands if isinstance(command, GrantCredits)]) == 4


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "grant"),
        ({"grant": 1, "set": 1}, "grant"),
        ({"grant": 0}, "grant"),
        ({"grant": -5}, "grant"),
        ({"grant": 1.5}, "grant"),
        ({"grant": "5"}, "grant"),
        ({"grant": MAX_CREDITS + 1}, "grant"),
        ({"grant": 10**40}, "grant"),
        ({"set": -1}, "set"),
        ({"set": MAX_CREDITS + 1}, "set"),
        ({"credits": 5}, "credits"),
    ],
)
async def test_an_amount_that_is_none_is_refused_by_its_field(
    api: Api, acme: Tenant, body: dict[str, Any], field: str
) -> None:
    refused = await give(api, body)
    assert (refused.status, refused.json["error"], refused.json["field"]) == (422, "invalid_field", field)


async def test_a_balance_cannot_be_taken_above_its_bound(api: Api, acme: Tenant) -> None:
    assert (await give(api, {"grant": MAX_CREDITS})).status == 200
    refused = await give(api, {"grant": 1})
    assert (refused.status, refused.json["field"]) == (422, "grant")


async def test_no_org_gives_itself_or_another_credits_or_spends_them(api: Api, acme: Tenant, rival: Tenant) -> None:
    for path, method, body in (
        ("/api/v1/orgs/acme/credits", "POST", {"grant": 5}),
        ("/api/v1/orgs/acme/plan", "PUT", {"plan": "bi"}),
    ):
        for tenant in (acme, rival):
            assert (await api.call(method, path, tenant.key, body)).status == 403
        unknown = path.replace("acme", "nobody")
        assert (await api.call(method, unknown, OPERATOR, body)).status == 404
    await give(api, {"grant": 1})
    await give(api, {"set": 0}, org_id=rival.org_id)
    assert (await post(api, rival)).status == 402
    assert (await post(api, acme)).status == 201


async def test_a_destination_that_the_plan_lacks_is_refused_and_left_out_after_a_downgrade(
    api: Api, acme: Tenant, pocket: PocketLedger
) -> None:
    assert (await api.call("POST", "/api/v1/destinations", acme.key, LAKE)).status == 201
    before = await submit(api, acme)
    changed = await api.call("PUT", "/api/v1/orgs/acme/plan", OPERATOR, {"plan": "standard"})
    assert (changed.status, changed.json["plan"]) == (200, "standard")
    refused = await api.call("POST", "/api/v1/destinations", acme.key, {**LAKE, "destinationId": "lake-2"})
    assert (refused.status, refused.json["error"]) == (403, "not_on_plan")
    assert (refused.json["plan"], refused.json["field"]) == ("standard", "kind")
    assert "bi" in refused.json["message"]
    after = await submit(api, acme)
    kept = {
        event.job_id: [each.destination_id for each in event.destinations]
        for entry in pocket.entries
        if entry.recorded and isinstance(event := entry.recorded.event, JobSubmitted)
    }
    assert kept == {before: ["internal-postgres", "lake"], after: ["internal-postgres"]}
    wrong = await api.call("PUT", "/api/v1/orgs/acme/plan", OPERATOR, {"plan": "gold"})
    assert (wrong.status, wrong.json["field"]) == (422, "plan")


async def test_plan_and_balance_are_read_from_what_the_log_says(api: Api, acme: Tenant, pocket: PocketLedger) -> None:
    pocket.project()
    before = (await api.call("GET", "/api/v1/plans/status", acme.key)).json
    assert (before["plan"], before["metered"], before["canSubmitJobs"]) == ("bi", False, True)
    assert (before["remainingCredits"], before["clickhouse"]) == (None, True)
    await give(api, {"grant": 2})
    await post(api, acme, 2)
    pocket.project()
    after = (await api.call("GET", "/api/v1/plans/status", acme.key)).json
    assert (after["canSubmitJobs"], after["remainingCredits"], after["creditsPerJob"]) == (False, 0, 1)
    assert [after[name] for name in ("granted", "debited", "surcharged", "refunded", "held", "jobs")] == [
        2,
        2,
        0,
        0,
        0,
        2,
    ]


async def test_transactions_are_listed_newest_first_and_page_by_page(
    api: Api, acme: Tenant, rival: Tenant, pocket: PocketLedger
) -> None:
    await give(api, {"grant": 3})
    await give(api, {"grant": 99}, org_id=rival.org_id)
    jobs = [each["jobId"] for each in (await post(api, acme, 2)).json["jobs"]]
    await api.call("POST", f"/api/v1/jobs/{jobs[1]}/cancel", acme.key)
    pocket.project()
    seen, cursor = [], ""
    while True:
        page = await api.call("GET", f"/api/v1/plans/transactions?limit=3{cursor}", acme.key)
        seen += page.json["transactions"]
        if page.json["nextCursor"] is None:
            break
        await give(api, {"grant": 1})
        pocket.project()
        cursor = f"&cursor={page.json['nextCursor']}"
    assert [(each["kind"], each["credits"], each["balance"], each["jobId"]) for each in seen] == [
        ("refund", 1, 2, jobs[1]),
        ("debit", -1, 1, jobs[1]),
        ("debit", -1, 2, jobs[0]),
        ("grant", 3, 3, None),
    ]
    assert all(each["position"].startswith(f"{acme.partition}:") for each in seen)
    wrong = await api.call("GET", "/api/v1/plans/transactions?cursor=x", acme.key)
    assert (wrong.status, wrong.json["field"]) == (422, "cursor")


async def test_with_nothing_folded_yet_a_status_is_that_of_an_org_without_credits(api: Api, acme: Tenant) -> None:
    status = await api.call("GET", "/api/v1/plans/status", acme.key)
    assert (status.json["metered"], status.json["canSubmitJobs"]) == (False, True)


async def test_the_command_line_shows_gives_sets_and_changes(
    api: Api, acme: Tenant, pocket: PocketLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("API", api.url), ("OPERATOR_KEY", OPERATOR), ("KEY", acme.key)):
        monkeypatch.setenv(f"JOBLEDGER_{name}", value)

    async def said(*words: str) -> str:
        result = await asyncio.to_thread(CliRunner().invoke, app, ["credits", *words])
        assert result.exit_code == 0, result.output
        return result.stdout.strip()

    assert await said("status") == "plan standard: not metered"
    for _ in range(2):
        assert await said("grant", "acme", "5", "--key", "k") == "acme is on plan bi: 5 credits left"
    assert await said("set", "acme", "3") == "acme is on plan bi: 3 credits left"
    pocket.project()
    assert await said("status") == "plan bi: 3 credits left of 3; 0 for 0 jobs, 0 for surcharges, 0 given back"
    assert await said("plan", "acme", "standard") == "acme is on plan standard: not metered"
