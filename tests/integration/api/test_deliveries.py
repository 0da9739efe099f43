"""The deliveries of a job: listed, made once more, waived; what Postgres says of the gate meanwhile."""

from typing import Any

import pytest

from services.ledger.commands import AnyCommand, SettleDeliveries
from services.ledger.replies import Refused, Reply
from services.ledger.reports import DeliveryResult, Extracted
from services.runtime.ids import uuid7
from tests.integration.api.conftest import Answered, Api, Tenant, submit
from tests.integration.api.pocket import PocketLedger

EXTRACTED = Extracted(result_ref="acme/x/1/page-0")
HOOK = {"url": "https://hook.example/in", "eventTypes": [], "onExhausted": "hold", "gateSeconds": 3600}


async def held(api: Api, acme: Tenant, pocket: PocketLedger) -> tuple[str, str]:
    """A job whose Postgres has acknowledged and whose webhook has refused for good; job id and webhook id."""
    made = await api.call("POST", "/api/v1/webhooks", acme.key, HOOK)
    assert made.status == 201, made.json
    assert (made.json["onExhausted"], made.json["gateSeconds"]) == ("hold", 3600)
    hook = made.json["webhookId"]
    job_id = await submit(api, acme)
    pocket.extract(acme.partition, acme.org_id, job_id, EXTRACTED)
    pocket.ack(acme.partition, acme.org_id, job_id)
    answer(pocket, acme, job_id, hook, 1, error_type="http_403", retryable=False)
    return job_id, hook


def answer(
    pocket: PocketLedger, acme: Tenant, job_id: str, place: str, generation: int, *, into: str = "", **fields: Any
) -> None:
    """Let a writer answer."""
    result = DeliveryResult(
        org_id=acme.org_id, job_id=job_id, destination_id=place, generation=generation, rows=1, place=into, **fields
    )
    settle = SettleDeliveries(command_id=uuid7(), requester=pocket.boot_id, actor="writer:w", results=(result,))
    pocket.decide(acme.partition, settle)


async def order(api: Api, acme: Tenant, job_id: str, place: str, what: str) -> Answered:
    """Redeliver or waive."""
    return await api.call("POST", f"/api/v1/jobs/{job_id}/deliveries/{place}/{what}", acme.key)


async def listed(api: Api, acme: Tenant, job_id: str) -> list[tuple[str, int, str]]:
    """Destination, generation and status of every delivery."""
    found = await api.call("GET", f"/api/v1/jobs/{job_id}/deliveries", acme.key)
    assert found.status == 200, found.json
    return [(each["destinationId"], each["generation"], each["status"]) for each in found.json["deliveries"]]


@pytest.mark.parametrize("projected", [True, False])
async def test_a_held_job_is_redelivered_and_completed(
    api: Api, acme: Tenant, pocket: PocketLedger, projected: bool
) -> None:
    job_id, hook = await held(api, acme, pocket)
    if projected:
        pocket.project()
    first = {(place, state) for place, _, state in await listed(api, acme, job_id)}
    assert first == {("internal-postgres", "acked"), (hook, "dead_lettered")}
    for _ in range(2 if projected else 1):  # who saw the same deliveries asks for the same one
        ordered = await order(api, acme, job_id, hook, "redeliver")
        assert (ordered.status, ordered.json["generation"]) == (202, 2)
    if projected:
        pocket.project()
    again = await order(api, acme, job_id, hook, "redeliver")
    assert (again.status, again.json["error"]) == (409, "delivery_under_way")
    answer(pocket, acme, job_id, hook, 2)
    pocket.project()
    assert await listed(api, acme, job_id) == [
        ("internal-postgres", 1, "acked"),
        (hook, 1, "superseded"),
        (hook, 2, "acked"),
    ]
    job = (await api.call("GET", f"/api/v1/jobs/{job_id}", acme.key)).json
    assert job["status"] == "completed"
    assert (job["gate"]["expected"], job["gate"]["acked"], job["gate"]["waived"]) == (2, 2, [])


@pytest.mark.parametrize("projected", [True, False])
async def test_a_held_job_is_completed_without_what_is_waived(
    api: Api, acme: Tenant, pocket: PocketLedger, projected: bool
) -> None:
    job_id, hook = await held(api, acme, pocket)
    if projected:
        pocket.project()
    gate = (await api.call("GET", f"/api/v1/jobs/{job_id}", acme.key)).json["gate"]
    assert (gate["acked"], gate["waived"], gate["pending"]) == (1, [], [hook])
    for _ in range(2):
        assert (await order(api, acme, job_id, hook, "waive")).status == 202
    gate = (await api.call("GET", f"/api/v1/jobs/{job_id}", acme.key)).json["gate"]
    if not projected:  # its end is told by Postgres alone, what came before it by the log as well
        assert (gate["acked"], gate["waived"], gate["pending"]) == (1, [hook], [])
    answer(pocket, acme, job_id, hook, 1)  # too late, and recorded
    pocket.project()
    found = (await api.call("GET", f"/api/v1/jobs/{job_id}", acme.key)).json
    events = {entry.event_type: str(entry.recorded.header.event_id.hex()) for entry in pocket.entries if entry.recorded}
    assert found["status"] == "completed"
    assert (found["gate"]["acked"], found["gate"]["waived"], found["gate"]["pending"]) == (1, [hook], [])
    assert events["DeliveryWaived"] in [each.replace("-", "") for each in found["gate"]["openedBy"]]
    assert (hook, 1, "acked") in await listed(api, acme, job_id)


async def test_a_delivery_tells_what_arrived_where_and_what_came_of_its_tries(
    api: Api, acme: Tenant, pocket: PocketLedger
) -> None:
    job_id, hook = await held(api, acme, pocket)
    await order(api, acme, job_id, "internal-postgres", "redeliver")
    answer(pocket, acme, job_id, "internal-postgres", 2, into="db.table")
    await order(api, acme, job_id, hook, "redeliver")
    answer(pocket, acme, job_id, hook, 2, error_type="http_503")
    pocket.project()
    found = (await api.call("GET", f"/api/v1/jobs/{job_id}/deliveries", acme.key)).json["deliveries"]
    told = {(each["destinationId"], each["generation"]): each for each in found}
    written, failed = told["internal-postgres", 2], told[hook, 2]
    assert (written["rows"], written["place"], written["summary"]) == (1, "db.table", "1 -> db.table")
    assert told["internal-postgres", 1]["summary"] == "1 -> internal-postgres"
    assert (failed["tries"], failed["errorType"], failed["rows"]) == (1, "http_503", None)
    assert failed["nextTryAt"] is not None
    assert failed["summary"] == f"waiting -> {hook} (1 try, http_503)"
    assert told[hook, 1]["summary"] == f"superseded -> {hook} (1 try, http_403)"


async def test_what_is_not_there_or_not_the_callers_is_not_found(
    api: Api, acme: Tenant, rival: Tenant, pocket: PocketLedger
) -> None:
    job_id, hook = await held(api, acme, pocket)
    for what in ("redeliver", "waive"):
        assert (await order(api, acme, job_id, "nowhere", what)).status == 404
        assert (await order(api, rival, job_id, hook, what)).status == 404
        assert (await order(api, acme, uuid7(), hook, what)).status == 404
    assert (await api.call("GET", f"/api/v1/jobs/{job_id}/deliveries", rival.key)).status == 404


async def test_before_anything_is_extracted_nothing_is_redelivered_or_waived(
    api: Api, acme: Tenant, pocket: PocketLedger
) -> None:
    job_id = await submit(api, acme)
    for what in ("redeliver", "waive"):
        refused = await order(api, acme, job_id, "internal-postgres", what)
        assert (refused.status, refused.json["error"]) == (409, "not_deliverable")


@pytest.mark.parametrize("what", ["redeliver", "waive"])
@pytest.mark.parametrize(
    ("refusal", "told"), [("unknown_job", (404, "not_found")), ("archive_unavailable", (503, "ledger_unavailable"))]
)
async def test_a_job_that_was_deleted_or_is_out_of_reach_since_it_was_looked_up_is_told_as_that(
    api: Api,
    acme: Tenant,
    pocket: PocketLedger,
    monkeypatch: pytest.MonkeyPatch,
    what: str,
    refusal: str,
    told: tuple[int, str],
) -> None:
    job_id, hook = await held(api, acme, pocket)

    async def refuse(partition: int, command: AnyCommand, timeout: float | None = None) -> Reply:  # noqa: ASYNC109
        return Reply(command_id=command.command_id, requester="", body=Refused(code=refusal, message="ask again later"))

    monkeypatch.setattr(pocket, "ask", refuse)
    refused = await order(api, acme, job_id, hook, what)
    assert (refused.status, refused.json["error"]) == told
