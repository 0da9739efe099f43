"""A job's past: what it looked like at an instant is what callers were told then; its events carry the org's chain."""

import base64
import hashlib
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import msgspec
import pytest

from api.history_answers import ChainHead
from projections.heads.sheet import Sheet, write_sheet
from projections.heads.signing import Head, SignedHead, Signer, Verifier
from services.ledger.record import digest_of
from services.ledger.reports import Extracted, Failed
from services.runtime.blob import BlobStore
from services.runtime.raw_log import Checkpoint
from services.runtime.settings import Settings
from tests.integration.api.conftest import Api, Tenant, submit
from tests.integration.api.pocket import PocketLedger


async def test_a_job_as_of_a_position_is_what_was_told_then(api: Api, acme: Tenant, pocket: PocketLedger) -> None:
    job_id = await submit(api, acme, metadata={"order": 17})
    told = dict([await _now(api, acme, pocket, job_id)])
    pocket.extract(acme.partition, acme.org_id, job_id, Extracted(result_ref="acme/1", content_type="text/html"))
    told |= [await _now(api, acme, pocket, job_id)]
    pocket.ack(acme.partition, acme.org_id, job_id)
    told |= [await _now(api, acme, pocket, job_id)]
    assert [job["status"] for job in told.values()] == ["pending", "extraction_done", "completed"]
    for position, then in told.items():
        assert await _job(api, acme, job_id, f"{acme.partition}:{position}") == then


async def test_a_job_as_of_a_time_is_the_one_of_its_last_event_by_then(
    api: Api, acme: Tenant, pocket: PocketLedger
) -> None:
    job_id = await submit(api, acme)
    pocket.run(acme.partition, acme.org_id, job_id, outcome=Failed(error_type="providers_exhausted"))
    pocket.project()
    events = await _events(api, acme, job_id)
    seen = [(await _job(api, acme, job_id, event["occurredAt"]))["status"] for event in events]
    assert seen[0] == "pending"
    assert seen[-1] == "failed"
    before = await api.call("GET", f"/api/v1/jobs/{job_id}?at=2020-01-01T00:00:00Z", acme.key)
    assert (before.status, before.json["error"]) == (404, "not_found")


@pytest.mark.parametrize("at", ["yesterday", "2026-01-31T12:00:00", "3:", "-1:4", "1:2:3"])
async def test_what_is_no_instant_is_named(api: Api, acme: Tenant, at: str) -> None:
    job_id = await submit(api, acme)
    refused = await api.call("GET", f"/api/v1/jobs/{job_id}?at={at}", acme.key)
    assert (refused.status, refused.json["error"], refused.json["field"]) == (422, "invalid_field", "at")


async def test_events_come_in_order_in_pages_and_with_their_chain(api: Api, acme: Tenant, pocket: PocketLedger) -> None:
    job_id = await submit(api, acme)
    pocket.extract(acme.partition, acme.org_id, job_id, Extracted(result_ref="acme/1"))
    pocket.ack(acme.partition, acme.org_id, job_id)
    pocket.project()
    whole = await _events(api, acme, job_id)
    assert [event["seq"] for event in whole] == list(range(1, len(whole) + 1))
    assert (whole[0]["type"], whole[-1]["type"]) == ("JobSubmitted", "JobCompleted")
    assert whole[0]["private"]["url"] == "https://shop.example/1"
    stored = {entry.position: entry.raw for entry in pocket.entries if entry.partition == acme.partition}
    for before, event in pairwise(whole):
        assert event["hash"] == hashlib.blake2b(stored[event["position"]], digest_size=32).hexdigest()
        if event["position"] == before["position"] + 1:
            assert event["prevHash"] == before["hash"]
    paged: list[Any] = []
    after: int | None = 0
    while after is not None:
        page = await api.call("GET", f"/api/v1/jobs/{job_id}/events?after={after}&limit=2", acme.key)
        assert len(page.json["events"]) <= 2
        paged += page.json["events"]
        after = page.json["nextAfter"]
    assert paged == whole


async def test_the_past_of_a_job_that_postgres_lacks_is_told_too(api: Api, acme: Tenant) -> None:
    job_id = await submit(api, acme)
    events = await _events(api, acme, job_id)
    assert events[0]["type"] == "JobSubmitted"
    assert (await _job(api, acme, job_id, f"{acme.partition}:{events[0]['position']}"))["status"] == "pending"


async def test_the_past_is_its_orgs_own(api: Api, acme: Tenant, rival: Tenant) -> None:
    job_id = await submit(api, acme)
    for path in (f"/api/v1/jobs/{job_id}/events", f"/api/v1/jobs/{job_id}?at=2099-01-01T00:00:00Z"):
        assert (await api.call("GET", path, rival.key)).status == 404


async def _now(api: Api, acme: Tenant, pocket: PocketLedger, job_id: str) -> tuple[int, dict[str, Any]]:
    """Let Postgres catch up; return the position of the job's newest event, and what callers are told."""
    pocket.project()
    return int((await _events(api, acme, job_id))[-1]["position"]), await _job(api, acme, job_id)


async def _events(api: Api, acme: Tenant, job_id: str) -> list[Any]:
    answer = await api.call("GET", f"/api/v1/jobs/{job_id}/events", acme.key)
    assert answer.status == 200, answer.json
    events: list[Any] = answer.json["events"]
    return events


async def _job(api: Api, acme: Tenant, job_id: str, at: str = "") -> dict[str, Any]:
    answer = await api.call("GET", f"/api/v1/jobs/{job_id}" + (f"?at={at}" if at else ""), acme.key)
    assert answer.status == 200, answer.json
    job: dict[str, Any] = answer.json
    return job


async def test_the_signed_head_of_an_org_is_told_once_there_is_one(
    api: Api, acme: Tenant, with_operator: Settings, pocket: PocketLedger
) -> None:
    missing = await api.call("GET", "/api/v1/history/head", acme.key)
    assert (missing.status, missing.json["error"]) == (404, "not_found")
    await submit(api, acme)
    newest = [entry for entry in pocket.entries if entry.partition == acme.partition][-1]
    signer = Signer(base64.b64encode(bytes(32)).decode())
    place = {"ledger": with_operator.topic_prefix, "org_id": acme.org_id, "partition": acme.partition}
    head = Head(position=newest.position, hash=digest_of(newest.raw).hex(), **place)  # type: ignore[arg-type]
    signed = signer.sign(head, datetime.now(UTC))
    sheet = Sheet(public_key=signer.public_key, checkpoint=Checkpoint(newest.position, 1), heads={acme.org_id: signed})
    await write_sheet(BlobStore(with_operator.blobs), with_operator.topic_prefix, acme.partition, sheet)
    told = await api.call("GET", "/api/v1/history/head", acme.key)
    assert told.status == 200, told.json
    kept = msgspec.convert(msgspec.convert(told.json, ChainHead), SignedHead, from_attributes=True)
    assert Verifier(told.json["publicKey"]).genuine(kept)
    assert told.json["hash"] == (await _events(api, acme, newest.recorded.event.job_id))[-1]["hash"]  # type: ignore[union-attr]
