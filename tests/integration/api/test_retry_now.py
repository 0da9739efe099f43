"""Hurrying a job that waits for a retry."""

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
