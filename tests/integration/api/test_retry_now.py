"""Hurrying a job that waits for a retry."""

from services.ledger.commands import RetryNow
from services.ledger.replies import Refused
from services.ledger.reports import NodeReport, RetryLater
from tests.integration.api.conftest import Api, Tenant, submit
from tests.integration.api.pocket import PocketLedger


async def test_a_waiting_job_is_hurried_and_any_other_is_a_conflict(
    api: Api, acme: Tenant, rival: Tenant, pocket: PocketLedger
) -> None:
    job_id = await submit(api, acme)
    path = f"/api/v1/jobs/{job_id}/retry-now"
    pending = await api.call("POST", path, acme.key)
    assert (pending.status, pending.json["error"]) == (409, "not_waiting")
    assert "pending" in pending.json["message"]
    visit = NodeReport(step=0, node_id="fetch", node_kind="service", edge="", error_type="http_5xx")
    later = RetryLater(node_id="fetch", try_number=2, delay_ms=3_600_000)
    pocket.run(acme.partition, "acme", job_id, visit, outcome=later)
    assert (await api.call("GET", f"/api/v1/jobs/{job_id}", acme.key)).json["status"] == "waiting_retry"
    assert (await api.call("POST", path, rival.key)).status == 404
    for _ in range(2):
        hurried = await api.call("POST", path, acme.key)
        assert (hurried.status, hurried.json) == (202, {"jobId": job_id, "accepted": True})
    events = (await api.call("GET", f"/api/v1/jobs/{job_id}/events", acme.key)).json["events"]
    assert [event["type"] for event in events].count("RetryBroughtForward") == 1
    pocket.project()
    assert (await api.call("GET", f"/api/v1/jobs/{job_id}", acme.key)).json["status"] == "waiting_retry"
    assert (await api.call("POST", f"/api/v1/jobs/{job_id}/cancel", acme.key)).status == 202
    pocket.project()
    ended = await api.call("POST", path, acme.key)
    assert (ended.status, ended.json["error"]) == (409, "job_terminal")
    assert (await api.call("POST", "/api/v1/jobs/x/retry-now", acme.key)).status == 404


async def test_a_copy_of_a_call_that_was_refused_or_answered_ends_no_wait_that_begins_later(
    api: Api, acme: Tenant, pocket: PocketLedger
) -> None:
    job_id = await submit(api, acme)
    path = f"/api/v1/jobs/{job_id}/retry-now"
    visit = NodeReport(step=0, node_id="fetch", node_kind="service", edge="", error_type="http_5xx")
    later = RetryLater(node_id="fetch", try_number=2, delay_ms=3_600_000)
    pocket.run(acme.partition, "acme", job_id, visit)
    assert (await api.call("POST", path, acme.key)).json["error"] == "not_waiting"
    pocket.finish(acme.partition, "acme", job_id, later)
    refused, before = _copies(pocket, acme), await _brought_forward(api, acme, job_id)
    assert [type(each) for each in refused] == [Refused]
    assert await _brought_forward(api, acme, job_id) == before == 0
    assert (await api.call("POST", path, acme.key)).status == 202
    pocket.pass_time(acme.partition, 1.0)
    pocket.run(acme.partition, "acme", job_id, outcome=later)
    assert {type(each) for each in _copies(pocket, acme)} == {Refused}
    assert await _brought_forward(api, acme, job_id) == 1
    assert (await api.call("POST", path, acme.key)).status == 202
    assert await _brought_forward(api, acme, job_id) == 2


def _copies(pocket: PocketLedger, acme: Tenant) -> list[object]:
    """Let everything that was asked of the ledger about a wait land once more, and return what that is answered."""
    asked = [command for command in pocket.commands if isinstance(command, RetryNow)]
    return [pocket.decide(acme.partition, command).body for command in asked]


async def _brought_forward(api: Api, acme: Tenant, job_id: str) -> int:
    events = (await api.call("GET", f"/api/v1/jobs/{job_id}/events", acme.key)).json["events"]
    return [event["type"] for event in events].count("RetryBroughtForward")
