"""Why a job stands where it stands, over HTTP: its decider says so, and after its end the read model."""

from typing import Any

import pytest

from services.ledger.commands import AnyCommand, DeleteJob
from services.ledger.replies import Reply
from services.ledger.reports import Extracted, Failed, RetryLater
from services.runtime.ids import uuid7
from tests.integration.api.conftest import OPERATOR, Api, Tenant, submit
from tests.integration.api.pocket import PocketLedger


async def test_a_pending_job_names_the_cap_and_the_jobs_that_saturate_it(
    api: Api, acme: Tenant, pocket: PocketLedger
) -> None:
    await api.call("PATCH", f"/api/v1/orgs/{acme.org_id}", OPERATOR, {"maxInFlight": 1})
    first, second, third = [await submit(api, acme) for _ in range(3)]
    pocket.run(acme.partition, acme.org_id, first)
    why = await _why(api, acme, third)
    assert (why["status"], why["reason"]) == ("pending", "cap")
    assert (why["queue"]["ahead"], why["queue"]["holders"]) == (1, [first])
    assert first in why["message"]
    assert "1 jobs of its org go before it" in why["message"]
    assert (await _why(api, acme, first))["reason"] == "worker"
    assert (await _why(api, acme, second))["queue"]["ahead"] == 0


async def test_a_deferred_job_names_its_date(api: Api, acme: Tenant, pocket: PocketLedger) -> None:
    job_id = await submit(api, acme)
    later = RetryLater(node_id="fetch", try_number=2, delay_ms=60_000, error_type="http_503")
    pocket.run(acme.partition, acme.org_id, job_id, outcome=later)
    why = await _why(api, acme, job_id)
    assert (why["reason"], why["status"]) == ("backoff", "waiting_retry")
    assert why["until"] > why["since"]


async def test_a_job_at_its_gate_names_who_has_not_acknowledged_and_an_ended_one_who_has(
    api: Api, acme: Tenant, pocket: PocketLedger
) -> None:
    job_id = await submit(api, acme)
    pocket.extract(acme.partition, acme.org_id, job_id, Extracted(result_ref="acme/1"))
    why = await _why(api, acme, job_id)
    assert (why["reason"], [each["destinationId"] for each in why["awaited"]]) == ("acks", ["internal-postgres"])
    pocket.ack(acme.partition, acme.org_id, job_id)
    pocket.project()
    why = await _why(api, acme, job_id)
    assert (why["status"], why["reason"], len(why["openedBy"])) == ("completed", "ended", 1)
    assert f"internal-postgres ({why['openedBy'][0]})" in why["message"]


async def test_the_ack_of_a_redelivery_did_not_open_the_gate(api: Api, acme: Tenant, pocket: PocketLedger) -> None:
    job_id = await submit(api, acme)
    pocket.extract(acme.partition, acme.org_id, job_id, Extracted(result_ref="acme/1"))
    pocket.ack(acme.partition, acme.org_id, job_id)
    pocket.project()
    before = await _why(api, acme, job_id)
    path = f"/api/v1/jobs/{job_id}/deliveries/internal-postgres/redeliver"
    assert (await api.call("POST", path, acme.key)).status == 202
    pocket.ack(acme.partition, acme.org_id, job_id, generation=2)
    pocket.project()
    assert await _why(api, acme, job_id) == before


async def test_a_failed_job_says_why(api: Api, acme: Tenant, pocket: PocketLedger) -> None:
    job_id = await submit(api, acme)
    failed = Failed(error_type="validation_failed", rule="captcha", node_id="fetch", private=b'\0{"message":"a wall"}')
    pocket.run(acme.partition, acme.org_id, job_id, outcome=failed)
    pocket.project()
    why = await _why(api, acme, job_id)
    assert (why["errorType"], why["rule"], why["node"]) == ("validation_failed", "captcha", "fetch")
    assert why["message"] == "validation_failed (captcha) at node fetch: a wall"


async def test_an_end_that_postgres_lacks_is_not_told(api: Api, acme: Tenant, pocket: PocketLedger) -> None:
    job_id = await submit(api, acme)
    pocket.project()
    pocket.run(acme.partition, acme.org_id, job_id, outcome=Failed(error_type="providers_exhausted"))
    early = await api.call("GET", f"/api/v1/jobs/{job_id}/explain", acme.key)
    assert (early.status, early.json["error"]) == (503, "catching_up")
    pocket.project()
    assert (await _why(api, acme, job_id))["errorType"] == "providers_exhausted"


async def test_a_job_that_was_deleted_since_it_was_looked_up_is_unknown(
    api: Api, acme: Tenant, pocket: PocketLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    job_id = await submit(api, acme)
    pocket.project()

    async def late(partition: int, command: AnyCommand, timeout: float | None = None) -> Reply:  # noqa: ASYNC109
        asker = {"command_id": uuid7(), "requester": pocket.boot_id, "actor": "key:k"}
        pocket.decide(partition, DeleteJob(org_id=acme.org_id, job_id=job_id, **asker))
        pocket.project()
        return pocket.decide(partition, command)

    monkeypatch.setattr(pocket, "ask", late)
    unknown = await api.call("GET", f"/api/v1/jobs/{job_id}/explain", acme.key)
    assert (unknown.status, unknown.json["error"]) == (404, "not_found")


async def test_without_a_decider_a_live_job_cannot_be_explained(api: Api, acme: Tenant, pocket: PocketLedger) -> None:
    job_id = await submit(api, acme)
    pocket.down = True
    refused = await api.call("GET", f"/api/v1/jobs/{job_id}/explain", acme.key)
    assert (refused.status, refused.json["error"]) == (503, "ledger_unavailable")


async def _why(api: Api, acme: Tenant, job_id: str) -> dict[str, Any]:
    answer = await api.call("GET", f"/api/v1/jobs/{job_id}/explain", acme.key)
    assert answer.status == 200, answer.json
    why: dict[str, Any] = answer.json
    return why
