"""Pauses, limits and time in the queue over HTTP."""

from schemas.events import JobFailed
from services.ledger.commands import PauseOrg, PauseWorkflow, SubmitJobs
from services.runtime.settings import Settings
from tests.integration.api.conftest import OPERATOR, Api, Tenant, submit
from tests.integration.api.pocket import PocketLedger


async def test_a_paused_org_takes_jobs_that_wait_and_say_so(api: Api, acme: Tenant, pocket: PocketLedger) -> None:
    for _ in range(2):
        paused = await api.call("POST", f"/api/v1/orgs/{acme.org_id}/pause", OPERATOR)
        assert paused.status == 200
        assert paused.json["pausedAt"]
    assert isinstance(pocket.commands[-1], PauseOrg)
    assert sum(entry.event_type == "OrgPaused" for entry in pocket.entries) == 2, "each call is recorded"
    job_id = await submit(api, acme)
    why = (await api.call("GET", f"/api/v1/jobs/{job_id}/explain", acme.key)).json
    assert (why["reason"], why["status"], why["queue"]["ahead"]) == ("org_paused", "pending", 0)
    resumed = await api.call("POST", f"/api/v1/orgs/{acme.org_id}/resume", OPERATOR)
    assert (resumed.status, resumed.json["pausedAt"]) == (200, None)
    assert pocket.entries[-2].event_type == "JobDispatched" or pocket.entries[-1].event_type == "JobDispatched"


async def test_an_org_pauses_its_workflow_and_sees_since_when(api: Api, acme: Tenant, pocket: PocketLedger) -> None:
    paused = await api.call("POST", "/api/v1/workflows/products/pause", acme.key)
    assert (paused.status, paused.json) == (200, {"workflowId": "products", "paused": True})
    command = pocket.commands[-1]
    assert isinstance(command, PauseWorkflow)
    assert (command.org_id, command.workflow_id) == (acme.org_id, "products")
    assert (await api.call("GET", "/api/v1/workflows/products", acme.key)).json["pausedAt"]
    job_id = await submit(api, acme)
    why = (await api.call("GET", f"/api/v1/jobs/{job_id}/explain", acme.key)).json
    assert (why["reason"], why["message"]) == ("workflow_paused", "its workflow is paused: resume it")
    resumed = await api.call("POST", "/api/v1/workflows/products/resume", acme.key)
    assert resumed.json == {"workflowId": "products", "paused": False}
    assert (await api.call("GET", "/api/v1/workflows/products", acme.key)).json["pausedAt"] is None


async def test_nobody_pauses_what_is_not_theirs(api: Api, acme: Tenant, rival: Tenant) -> None:
    assert (await api.call("POST", f"/api/v1/orgs/{rival.org_id}/pause", acme.key)).status in (401, 403)
    assert (await api.call("POST", "/api/v1/orgs/nobody/pause", OPERATOR)).status == 404
    assert (await api.call("POST", "/api/v1/workflows/other/pause", acme.key)).status == 404


async def test_a_full_queue_refuses_a_submission_as_a_whole_and_says_when_to_come_again(
    api: Api, acme: Tenant, pocket: PocketLedger
) -> None:
    changed = await api.call("PATCH", f"/api/v1/orgs/{acme.org_id}", OPERATOR, {"maxPending": 700})
    assert (changed.json["maxPending"], changed.json["maxInFlight"]) == (700, 5)
    urls = {"urls": ["https://shop.example/"] * 701}
    headers = {"Idempotency-Key": "big"}
    full = await api.call("POST", "/api/v1/jobs", acme.key, urls, headers=headers)
    assert (full.status, full.json["error"], int(full.headers["Retry-After"])) == (429, "queue_full", 5)
    assert not any(entry.event_type == "JobSubmitted" for entry in pocket.entries)
    fits = await api.call(
        "POST", "/api/v1/jobs", acme.key, {"urls": urls["urls"][1:]}, headers={"Idempotency-Key": "k"}
    )
    assert (fits.status, len(fits.json["jobs"])) == (201, 700)
    assert (await api.call("POST", "/api/v1/jobs", acme.key, {"url": "https://shop.example/"})).status == 429
    await api.call("PATCH", f"/api/v1/orgs/{acme.org_id}", OPERATOR, {"maxPending": 0})
    again = await api.call("POST", "/api/v1/jobs", acme.key, urls, headers=headers)
    assert again.status == 201, "what was refused was not remembered"


async def test_limits_are_named_and_within_their_range(api: Api, acme: Tenant) -> None:
    path = f"/api/v1/orgs/{acme.org_id}"
    assert (await api.call("PATCH", path, OPERATOR, {})).status == 422
    assert (await api.call("PATCH", path, OPERATOR, {"maxPending": -1})).json["field"] == "maxPending"
    changed = await api.call("PATCH", path, OPERATOR, {"maxQueueSeconds": 60})
    assert (changed.json["maxQueueSeconds"], changed.json["maxPending"]) == (60, 0)


async def test_time_in_the_queue_is_asked_for_shown_and_over(api: Api, acme: Tenant, pocket: PocketLedger) -> None:
    job_id = await submit(api, acme, maxQueueSeconds=90)
    command = pocket.commands[-1]
    assert isinstance(command, SubmitJobs)
    assert command.max_queue_seconds == 90
    why = (await api.call("GET", f"/api/v1/jobs/{job_id}/explain", acme.key)).json
    assert why["expiresAt"] > why["since"]
    assert f"unclaimed by {why['expiresAt']} it fails" in why["message"]
    pending = (await api.call("GET", f"/api/v1/jobs/{job_id}", acme.key)).json
    assert pending["explain"] == f"/api/v1/jobs/{job_id}/explain"
    pocket.pass_time(acme.partition, 90)
    ended = pocket.entries[-1].recorded
    assert ended is not None
    assert isinstance(ended.event, JobFailed)
    pocket.project()
    shown = (await api.call("GET", f"/api/v1/jobs/{job_id}", acme.key)).json
    assert (shown["status"], shown["errorType"], shown["explain"]) == ("failed", "queue_expired", None)
    assert [each["status"] for each in shown["transitions"]] == ["pending", "failed"]


async def test_a_setting_says_how_long_keys_live(with_operator: Settings) -> None:
    from services.runtime.policy import policy_of

    assert policy_of(with_operator).idempotency_lifetime == 24 * 3600 * 1_000_000


async def test_a_workflow_that_was_deleted_while_paused_can_be_resumed(
    api: Api, acme: Tenant, pocket: PocketLedger
) -> None:
    await api.call("POST", "/api/v1/workflows/products/pause", acme.key)
    job_id = await submit(api, acme)
    assert (await api.call("DELETE", "/api/v1/workflows/products", acme.key)).status == 200
    resumed = await api.call("POST", "/api/v1/workflows/products/resume", acme.key)
    assert (resumed.status, resumed.json["paused"]) == (200, False)
    why = (await api.call("GET", f"/api/v1/jobs/{job_id}/explain", acme.key)).json
    assert why["reason"] != "workflow_paused"
    for verb in ("pause", "resume"):
        assert (await api.call("POST", f"/api/v1/workflows/products/{verb}", acme.key)).status == 404
