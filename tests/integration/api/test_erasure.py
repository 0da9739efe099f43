"""Orgs with erasure at the API: what their jobs say of people is sealed before the ledger hears of it."""

import asyncio
from contextlib import closing
from dataclasses import replace
from typing import Any

import msgspec
import psycopg
import pytest

from api.config.reseal import reseal
from projections.migrate import SCHEMA
from projections.postgres.batch import batch_of
from projections.postgres.store import Store
from schemas.events import JobSubmitted
from services.ledger.commands import SubmitJobs
from services.ledger.reports import Extracted, Failed, NodeReport
from services.runtime.errors import KeysAway
from services.runtime.sealing import Sealer, new_key
from services.runtime.settings import Settings
from services.runtime.shredding.codec import is_sealed, sealed
from services.runtime.shredding.rows import keys_of
from services.runtime.shredding.vault import Vault
from tests.integration.api.conftest import OPERATOR, WORKFLOW, Api, StartApi, Tenant, running, submit
from tests.integration.api.pocket import PocketLedger
from tests.integration.api.test_delete import delete

MARKER = "marker-7d1c"
URL = f"https://shop.example/{MARKER}"


@pytest.fixture
async def private(api: Api) -> Tenant:
    """An org with erasure from its first job on."""
    return await make_private(api, "private")


async def make_private(api: Api, org_id: str) -> Tenant:
    """Register an org with erasure and publish a workflow for it."""
    made = await api.call("POST", "/api/v1/orgs", OPERATOR, {"orgId": org_id, "name": org_id, "erasure": True})
    assert made.status == 201, made.json
    tenant = Tenant(org_id, made.json["partition"], made.json["key"]["secret"])
    body = {"workflowId": "products", "document": WORKFLOW, "publish": True}
    assert (await api.call("POST", "/api/v1/workflows", tenant.key, body)).status == 201
    return tenant


def raw(pocket: PocketLedger) -> bytes:
    """All that was written to the topics of events and commands."""
    commands = [msgspec.msgpack.encode(each) for each in pocket.commands]
    return b"".join([*(entry.raw for entry in pocket.entries), *commands])


def key_of(settings: Settings, tenant: Tenant, job_id: str) -> bytes | None:
    """The key of a job."""
    job = (tenant.org_id, job_id)
    with closing(psycopg.connect(settings.postgres)) as connection:
        return keys_of(connection, Vault(settings.credentials_key), [job]).get(job)


def number_of_keys(settings: Settings) -> int:
    """How many jobs have a key."""
    with closing(psycopg.connect(settings.postgres)) as connection:
        [[number]] = connection.execute("SELECT count(*)::integer FROM sealing.job_keys").fetchall()
    return int(number)


def submissions(pocket: PocketLedger) -> list[SubmitJobs]:
    """The submissions that the ledger was asked for."""
    return [each for each in pocket.commands if isinstance(each, SubmitJobs)]


async def seen(api: Api, tenant: Tenant, job_id: str, at: str = "") -> Any:
    """A job as the API shows it."""
    answer = await api.call("GET", f"/api/v1/jobs/{job_id}" + (f"?at={at}" if at else ""), tenant.key)
    assert answer.status == 200, answer.json
    return answer.json


async def test_a_sealed_job_reads_like_any_other_and_its_text_is_nowhere_in_the_log(
    api: Api, private: Tenant, pocket: PocketLedger, with_operator: Settings
) -> None:
    job_id = await submit(api, private, URL, input={"who": MARKER}, metadata={"tag": MARKER})
    first = await seen(api, private, job_id)  # from the tail of the log
    assert (first["url"], first["input"], first["metadata"]) == (URL, {"who": MARKER}, {"tag": MARKER})
    key = key_of(with_operator, private, job_id)
    assert key is not None
    job = (private.org_id, job_id)
    said = sealed(b"\0" + msgspec.json.encode({"message": MARKER, "finalUrl": URL}), key, job)
    node = NodeReport(step=0, node_id="fetch", node_kind="service", error_type="http", private=said)
    pocket.run(private.partition, *job, node, outcome=Failed(error_type="providers_exhausted", private=said))
    pocket.project()
    told = await seen(api, private, job_id)
    assert (told["url"], told["errorMessage"]) == (URL, MARKER)
    assert told["executionTrace"][0]["errorMessage"] == MARKER
    assert await seen(api, private, job_id, f"{private.partition}:{pocket.entries[-1].position}") == told
    events = (await api.call("GET", f"/api/v1/jobs/{job_id}/events", private.key)).json["events"]
    assert events[0]["private"]["url"] == URL
    assert {event["type"]: event["private"] for event in events}["JobFailed"] == {"message": MARKER, "finalUrl": URL}
    assert MARKER.encode() not in raw(pocket)
    assert MARKER in str((await api.call("GET", "/api/v1/jobs", private.key)).json)


async def test_a_deleted_job_is_unreadable_for_good_and_a_rebuilt_read_model_says_the_same(
    api: Api, private: Tenant, pocket: PocketLedger, with_operator: Settings
) -> None:
    job_id, other = await submit(api, private, URL), await submit(api, private, URL + "-2")
    pocket.project()
    assert number_of_keys(with_operator) == 2
    before = raw(pocket)
    assert (await delete(api, private, pocket, job_id)).status == 200
    assert key_of(with_operator, private, job_id) is None
    assert key_of(with_operator, private, other) is not None
    assert raw(pocket).startswith(before[:100])  # the log is not rewritten
    assert (await api.call("GET", f"/api/v1/jobs/{job_id}/events", private.key)).status == 404
    told = await seen(api, private, other)
    assert told["url"] == URL + "-2"
    with closing(psycopg.connect(with_operator.postgres, autocommit=True)) as connection:
        tables = "ledger_v1.jobs, ledger_v1.job_transitions, ledger_v1.job_trace, ledger_v1.extraction_deliveries"
        rows = b"SELECT * FROM ledger_v1.jobs ORDER BY org_id, job_id"
        stood = connection.execute(rows).fetchall()
        connection.execute(f"TRUNCATE {tables}, ledger_v1.deleted_jobs, ledger_v1.checkpoints".encode())
        pocket.rebuild()
        assert connection.execute(rows).fetchall() == stood
    assert await seen(api, private, other) == told
    assert number_of_keys(with_operator) == 1


async def test_a_key_that_came_back_with_a_backup_is_destroyed_by_the_rebuild(
    api: Api, private: Tenant, pocket: PocketLedger, with_operator: Settings
) -> None:
    job_id = await submit(api, private, URL)
    pocket.project()
    with closing(psycopg.connect(with_operator.postgres, autocommit=True)) as connection:
        kept = connection.execute("SELECT org_id, job_id, key_id, sealed FROM sealing.job_keys").fetchall()
        await delete(api, private, pocket, job_id)
        query = "INSERT INTO sealing.job_keys (org_id, job_id, key_id, sealed) VALUES (%s, %s, %s, %s)"
        connection.execute(query, kept[0])
        tables = "ledger_v1.jobs, ledger_v1.job_transitions, ledger_v1.deleted_jobs, ledger_v1.checkpoints"
        connection.execute(f"TRUNCATE {tables}".encode())
        pocket.rebuild()
    assert number_of_keys(with_operator) == 0


async def test_an_org_without_erasure_has_no_keys_and_stays_in_clear(
    api: Api, acme: Tenant, pocket: PocketLedger, with_operator: Settings
) -> None:
    await submit(api, acme, URL)
    assert MARKER.encode() in raw(pocket)
    assert number_of_keys(with_operator) == 0
    answer = await api.call("GET", "/api/v1/orgs/acme/erasure", OPERATOR)
    assert answer.json == {"orgId": "acme", "enabled": False, "since": None}


async def test_erasure_is_turned_on_and_off_for_the_jobs_to_come(
    start_api: StartApi, api: Api, acme: Tenant, pocket: PocketLedger
) -> None:
    first = await submit(api, acme, URL)
    on = await api.call("PUT", "/api/v1/orgs/acme/erasure", OPERATOR, {"enabled": True})
    assert (on.status, on.json["enabled"]) == (200, True)
    assert (await api.call("PUT", "/api/v1/orgs/acme/erasure", OPERATOR, {"enabled": True})).json == on.json
    async with start_api() as fresh:  # which trusts no key that it looked up before
        second = await submit(fresh, acme, URL)
    await api.call("PUT", "/api/v1/orgs/acme/erasure", OPERATOR, {"enabled": False})
    async with start_api() as fresh:
        third = await submit(fresh, acme, URL)
    pocket.project()
    assert [(await seen(api, acme, job_id))["url"] for job_id in (first, second, third)] == [URL] * 3
    assert [is_sealed(job.private) for command in submissions(pocket) for job in command.jobs] == [False, True, False]


async def test_many_jobs_get_a_key_each_by_one_statement(
    api: Api, private: Tenant, pocket: PocketLedger, with_operator: Settings
) -> None:
    urls = [f"{URL}/{number}" for number in range(1200)]
    made = await api.call("POST", "/api/v1/jobs", private.key, {"urls": urls})
    assert made.status == 201, made.json
    assert number_of_keys(with_operator) == 1200
    sent = [job.private for command in submissions(pocket) for job in command.jobs]
    assert len(sent) == len(set(sent)) == 1200
    assert all(is_sealed(private) for private in sent)
    pocket.project()
    found = await seen(api, private, made.json["jobs"][7]["jobId"])
    assert found["url"] == urls[7]


async def test_a_repeat_gets_the_same_jobs_and_leaves_no_key_behind(
    api: Api, private: Tenant, pocket: PocketLedger, with_operator: Settings
) -> None:
    headers = {"Idempotency-Key": "one"}
    body = {"url": URL}
    first = await api.call("POST", "/api/v1/jobs", private.key, body, headers=headers)
    again = await api.call("POST", "/api/v1/jobs", private.key, body, headers=headers)
    assert (first.status, again.status) == (201, 200)
    assert first.json == again.json
    assert number_of_keys(with_operator) == 1
    other = await api.call("POST", "/api/v1/jobs", private.key, {"url": URL + "x"}, headers=headers)
    assert (other.status, other.json["error"]) == (409, "idempotency_conflict")
    assert (await seen(api, private, first.json["jobId"]))["url"] == URL


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("first", [True, False])
async def test_a_repeat_is_known_whatever_became_of_the_erasure_meanwhile(
    api: Api, acme: Tenant, pocket: PocketLedger, monkeypatch: pytest.MonkeyPatch, *, first: bool, many: bool
) -> None:
    monkeypatch.setattr("api.auth.TRUST_SECONDS", 0.0)
    body: dict[str, Any] = {"urls": [f"{URL}-{n}" for n in range(600)]} if many else {"url": URL}

    async def turn(*, on: bool) -> None:
        assert (await api.call("PUT", "/api/v1/orgs/acme/erasure", OPERATOR, {"enabled": on})).status == 200

    async def post(**changed: Any) -> Any:
        return await api.call("POST", "/api/v1/jobs", acme.key, body | changed, headers={"Idempotency-Key": "one"})

    def submitted() -> int:
        return sum(entry.event_type == "JobSubmitted" for entry in pocket.entries)

    await turn(on=True)
    await turn(on=first)
    made = await post()
    jobs = submitted()
    for on in (not first, first, not first):
        await turn(on=on)
        again = await post()
        assert (again.status, again.json, again.headers["Idempotency-Replayed"]) == (200, made.json, "true")
        other = await post(priority=1)
        assert (other.status, other.json["error"]) == (409, "idempotency_conflict")
    assert (await api.call("POST", "/api/v1/workflows/products/unpublish", acme.key)).status == 200
    assert ((await post()).status, (await post(priority=1)).status) == (200, 409)
    assert submitted() == jobs == (600 if many else 1)


async def test_a_command_that_may_still_take_effect_keeps_its_key(
    api: Api, private: Tenant, pocket: PocketLedger, with_operator: Settings
) -> None:
    pocket.down = True
    lost = await api.call("POST", "/api/v1/jobs", private.key, {"url": URL})
    assert lost.status == 503
    assert number_of_keys(with_operator) == 1


async def test_the_digest_of_a_sealed_request_confirms_no_guess(
    api: Api, private: Tenant, acme: Tenant, pocket: PocketLedger
) -> None:
    await make_private(api, "other")
    for tenant in (private, acme):
        await submit(api, tenant, URL)
    digests = {entry.recorded.event.request_digest for entry in pocket.entries if _submission(entry.recorded)}  # type: ignore[union-attr]
    assert len(digests) == 2


async def test_a_job_whose_key_is_gone_is_shown_without_what_it_said(
    api: Api, private: Tenant, pocket: PocketLedger, with_operator: Settings
) -> None:
    """As in a read model that is being rebuilt, and has not come to the deletion yet."""
    job_id = await submit(api, private, URL)
    with closing(psycopg.connect(with_operator.postgres, autocommit=True)) as connection:
        connection.execute("DELETE FROM sealing.job_keys")
    pocket.extract(private.partition, private.org_id, job_id, Extracted(result_ref="private/1"))
    for _ in range(2):  # from the tail, then from Postgres
        told = await seen(api, private, job_id)
        assert (told["url"], told["input"], told["metadata"]) == (None, None, None)
        pocket.project()
    events = (await api.call("GET", f"/api/v1/jobs/{job_id}/events", private.key)).json["events"]
    assert events[0]["private"].endswith("bytes, encrypted")


async def test_keys_are_resealed_with_the_newest_key_of_the_setting(
    api: Api, private: Tenant, with_operator: Settings
) -> None:
    job_id = await submit(api, private, URL)
    newest = new_key()
    assert (
        await asyncio.to_thread(reseal, with_operator.postgres, Sealer(f"{newest},{with_operator.credentials_key}"))
        == 1
    )
    with closing(psycopg.connect(with_operator.postgres)) as connection:
        assert keys_of(connection, Vault(newest), [(private.org_id, job_id)])


async def test_what_a_schedule_fires_is_sealed_too(
    api: Api, private: Tenant, pocket: PocketLedger, with_operator: Settings
) -> None:
    body = {"name": "daily", "cron": "0 6 * * *", "work": {"url": URL}}
    made = await api.call("POST", "/api/v1/schedules", private.key, body)
    assert made.status == 201, made.json
    fired = await api.call("POST", f"/api/v1/schedules/{made.json['scheduleId']}/trigger", private.key)
    assert fired.status == 201, fired.json
    [job_id] = fired.json["jobIds"]
    assert key_of(with_operator, private, job_id) is not None
    assert MARKER.encode() not in raw(pocket)
    pocket.project()
    assert (await seen(api, private, job_id))["url"] == URL


async def test_without_the_setting_nothing_is_turned_on_and_nothing_sealed_is_folded(
    api: Api, private: Tenant, acme: Tenant, pocket: PocketLedger, with_operator: Settings
) -> None:
    job_id = await submit(api, private, URL)
    closed = replace(with_operator, credentials_key="")
    async with running(closed, pocket, api.session) as blind:
        on = await blind.call("PUT", "/api/v1/orgs/acme/erasure", OPERATOR, {"enabled": True})
        assert (on.status, on.json["error"]) == (501, "erasure_disabled")
        refused = await blind.call("POST", "/api/v1/jobs", private.key, {"url": URL})
        assert (refused.status, refused.json["error"]) == (503, "store_unavailable")
        assert (await blind.call("POST", "/api/v1/jobs", acme.key, {"url": URL})).status == 201
    with closing(Store(with_operator.postgres, SCHEMA, Vault(""))) as store:
        checkpoints = store.checkpoints(range(with_operator.partitions))
        with pytest.raises(KeysAway, match="JOBLEDGER_CREDENTIALS_KEY"):
            store.write(batch_of(checkpoints, pocket.entries))
        assert store.checkpoints(range(with_operator.partitions)) == checkpoints
    pocket.project()
    assert (await seen(api, private, job_id))["url"] == URL


async def test_only_the_operator_turns_erasure_on_and_only_of_an_org_that_is_there(api: Api, acme: Tenant) -> None:
    path = "/api/v1/orgs/acme/erasure"
    assert (await api.call("PUT", path, acme.key, {"enabled": True})).status == 403
    for org_id in ("nobody", "No%20Id"):
        assert (await api.call("PUT", f"/api/v1/orgs/{org_id}/erasure", OPERATOR, {"enabled": True})).status == 404
    refused = await api.call("PUT", path, OPERATOR, {"enabled": "yes"})
    assert (refused.status, refused.json["field"]) == (422, "enabled")


def _submission(recorded: Any) -> bool:
    return recorded is not None and isinstance(recorded.event, JobSubmitted)
