"""Fires of schedules over HTTP: triggered one by one and by tags, refused, repeated, sealed, and listed."""

import pytest
from psycopg_pool import AsyncConnectionPool

from api.config import schedules
from api.config.schedules import TagFilter
from api.config.store import Pool
from api.routes import schedule_fires
from api.schedules.shown import after
from schemas.events import JobSubmitted, ScheduleFired
from schemas.values import FireKind
from services.cli.client import Client
from services.runtime.errors import KeysAway
from services.runtime.ids import is_uuid
from services.runtime.settings import Settings
from services.runtime.shredding.codec import is_sealed, unsealed
from services.runtime.shredding.store import JobKeys
from services.runtime.shredding.vault import Vault
from services.scheduler.book import StoredBook
from tests.integration.api.conftest import OPERATOR, WORKFLOW, Api, Tenant
from tests.integration.api.pocket import PocketLedger
from tests.integration.api.test_schedules import PATH, WORK, make, of


async def test_a_trigger_by_tags_that_a_store_breaks_off_names_the_key_to_repeat_it_with(
    api: Api, acme: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    await make(api, acme, tags=["t"])

    async def away(*_: object, **__: object) -> None:
        raise KeysAway("away")

    monkeypatch.setattr(schedule_fires, "submitted", away)
    broken = await api.call("POST", f"{PATH}/trigger", acme.key, {"tagFilter": {"all": ["t"]}})
    assert (broken.status, broken.json["error"]) == (503, "store_unavailable")
    assert broken.headers["Idempotency-Key"]


async def test_a_trigger_fires_now_without_moving_the_clock(api: Api, acme: Tenant, pocket: PocketLedger) -> None:
    made = await make(api, acme, work={"urls": ["https://shop.example/1", "https://shop.example/2"]})
    key = {"Idempotency-Key": "press-1"}
    first = await api.call("POST", of(made, "trigger"), acme.key, headers=key)
    assert (first.status, len(first.json["jobIds"])) == (201, 2)
    second = await api.call("POST", of(made, "trigger"), acme.key, headers=key)
    assert (second.status, second.json, second.headers["Idempotency-Replayed"]) == (200, first.json, "true")
    pocket.project()
    job = await api.call("GET", f"/api/v1/jobs/{first.json['jobIds'][0]}", acme.key)
    assert (job.json["scheduleId"], job.json["workflowId"]) == (made["scheduleId"], "products")
    after = (await api.call("GET", of(made), acme.key)).json
    assert after["nextRunAt"] == made["nextRunAt"]
    [fire] = (await api.call("GET", of(made, "fires"), acme.key)).json["fires"]
    assert (fire["how"], fire["outcome"], fire["code"]) == ("trigger", "submitted", None)
    assert fire["jobIds"] == first.json["jobIds"]
    assert fire["firedAt"] == after["lastRunAt"]


async def test_a_key_of_a_trigger_belongs_to_its_schedule(api: Api, acme: Tenant) -> None:
    one, other = await make(api, acme), await make(api, acme)
    key = {"Idempotency-Key": "press-1"}
    assert (await api.call("POST", of(one, "trigger"), acme.key, headers=key)).status == 201
    conflict = await api.call("POST", of(other, "trigger"), acme.key, headers=key)
    assert (conflict.status, conflict.json["error"]) == (409, "idempotency_conflict")


async def test_a_disabled_schedule_may_be_triggered(api: Api, acme: Tenant) -> None:
    made = await make(api, acme, enabled=False)
    assert made["nextRunAt"] is None
    assert (await api.call("POST", of(made, "trigger"), acme.key)).status == 201


async def test_a_trigger_whose_workflow_is_gone_is_refused_and_its_repeat_is_answered(
    api: Api, acme: Tenant, pocket: PocketLedger
) -> None:
    made = await make(api, acme, work={**WORK, "workflowId": "products"})
    key = {"Idempotency-Key": "press-1"}
    first = await api.call("POST", of(made, "trigger"), acme.key, headers=key)
    assert (await api.call("DELETE", "/api/v1/workflows/products", acme.key)).status == 200
    again = await api.call("POST", of(made, "trigger"), acme.key, headers=key)
    assert (again.status, again.json) == (200, first.json)
    refused = await api.call("POST", of(made, "trigger"), acme.key)
    assert (refused.status, refused.json["error"]) == (422, "unknown_workflow")
    assert refused.json["field"] == "work.workflowId"
    pocket.project()
    assert len((await api.call("GET", of(made, "fires"), acme.key)).json["fires"]) == 1


async def test_nothing_is_fired_while_the_ledger_is_silent_and_the_repeat_fires_once(
    api: Api, acme: Tenant, pocket: PocketLedger
) -> None:
    made = await make(api, acme)
    key = {"Idempotency-Key": "press-1"}
    pocket.down = True
    silent = await api.call("POST", of(made, "trigger"), acme.key, headers=key)
    assert (silent.status, silent.json["error"]) == (503, "ledger_unavailable")
    for path, body in ((of(made, "trigger"), None), (f"{PATH}/trigger", {"tagFilter": {"none": ["t"]}})):
        unnamed = await api.call("POST", path, acme.key, body)
        assert (unnamed.status, bool(unnamed.headers.get("Idempotency-Key"))) == (503, True), "to repeat it with"
    pocket.down = False
    assert (await api.call("POST", of(made, "trigger"), acme.key, headers=key)).status == 201
    fired = [entry.recorded.event for entry in pocket.entries if entry.recorded]
    assert [each.how for each in fired if isinstance(each, ScheduleFired)] == [FireKind.TRIGGER]
    assert len([each for each in fired if isinstance(each, JobSubmitted)]) == 1


async def test_calls_by_tags_act_on_every_schedule_that_has_them(
    api: Api, acme: Tenant, rival: Tenant, pocket: PocketLedger
) -> None:
    good = await make(api, acme, name="good", tags=["nightly", "eu"])
    lost = await make(api, acme, name="lost", tags=["nightly", "us"])
    await make(api, acme, name="no", tags=["weekly"])
    await make(api, rival, tags=["nightly"])
    body = {"tagFilter": {"all": ["nightly"], "none": ["us"]}}
    off = await api.call("POST", f"{PATH}/disable", acme.key, body)
    assert [(each["scheduleId"], each["enabled"]) for each in off.json["schedules"]] == [(good["scheduleId"], False)]
    on = await api.call("POST", f"{PATH}/enable", acme.key, body)
    assert [each["enabled"] for each in on.json["schedules"]] == [True]
    wanted = {"tagFilter": {"any": ["eu", "us"]}}
    key = {"Idempotency-Key": "all-1"}
    fired = (await api.call("POST", f"{PATH}/trigger", acme.key, wanted, headers=key)).json["schedules"]
    assert {each["scheduleId"] for each in fired} == {good["scheduleId"], lost["scheduleId"]}
    assert all(len(each["jobIds"]) == 1 and each["code"] is None for each in fired)
    assert (await api.call("POST", f"{PATH}/trigger", acme.key, wanted, headers=key)).json["schedules"] == fired
    unnamed = await api.call("POST", f"{PATH}/trigger", acme.key, {"tagFilter": {}})
    assert (unnamed.status, unnamed.json["field"]) == (422, "tagFilter")


async def test_one_refused_schedule_among_those_with_a_tag_holds_back_no_other(api: Api, acme: Tenant) -> None:
    document = {**WORKFLOW, "routes": ["domain:shop.example"]}
    routed = {"workflowId": "routed", "document": document, "publish": True}
    assert (await api.call("POST", "/api/v1/workflows", acme.key, routed)).status == 201
    good = await make(api, acme, tags=["t"])
    lost = await make(api, acme, tags=["t"], work={"url": "https://elsewhere.example/"})
    fired = (await api.call("POST", f"{PATH}/trigger", acme.key, {"tagFilter": {"all": ["t"]}})).json["schedules"]
    codes = {each["scheduleId"]: each["code"] for each in fired}
    assert codes == {good["scheduleId"]: None, lost["scheduleId"]: "no_route"}


async def test_a_trigger_that_the_ledger_refuses_is_answered_as_a_submission_is(
    api: Api, acme: Tenant, pocket: PocketLedger
) -> None:
    made = await make(api, acme, tags=["t"], work={"urls": ["https://shop.example/1", "https://shop.example/2"]})
    org = f"/api/v1/orgs/{acme.org_id}"
    await api.call("PATCH", org, OPERATOR, {"maxPending": 1})
    full = await api.call("POST", of(made, "trigger"), acme.key)
    assert (full.status, full.json["error"], full.headers["Retry-After"]) == (429, "queue_full", "5")
    await api.call("PATCH", org, OPERATOR, {"maxPending": 0})
    await api.call("POST", f"{org}/credits", OPERATOR, {"set": 1})
    broke = await api.call("POST", of(made, "trigger"), acme.key)
    assert (broke.status, broke.json["error"]) == (402, "quota_exhausted")
    assert (broke.json["askedCredits"], broke.json["remainingCredits"]) == (2, 1)
    [outcome] = (await api.call("POST", f"{PATH}/trigger", acme.key, {"tagFilter": {"all": ["t"]}})).json["schedules"]
    assert (outcome["code"], outcome["jobIds"]) == ("quota_exhausted", [])
    pocket.project()
    assert not (await api.call("GET", of(made, "fires"), acme.key)).json["fires"], "what is refused is not recorded"


async def test_the_jobs_of_a_fire_have_the_time_in_the_queue_that_its_work_gives_them(api: Api, acme: Tenant) -> None:
    for work, limited in ((WORK, True), ({"url": WORK["url"]}, False)):
        made = await make(api, acme, work=work)
        [job_id] = (await api.call("POST", of(made, "trigger"), acme.key)).json["jobIds"]
        why = await api.call("GET", f"/api/v1/jobs/{job_id}/explain", acme.key)
        assert (why.json["expiresAt"] is not None) is limited


async def test_fires_are_paged_by_a_stable_cursor(api: Api, acme: Tenant, pocket: PocketLedger) -> None:
    made = await make(api, acme)
    ids = [(await api.call("POST", of(made, "trigger"), acme.key)).json["jobIds"] for _ in range(3)]
    pocket.project()
    page = (await api.call("GET", of(made, "fires") + "?limit=2", acme.key)).json
    assert [each["jobIds"] for each in page["fires"]] == ids[:0:-1]
    await api.call("POST", of(made, "trigger"), acme.key)
    pocket.project()
    rest = (await api.call("GET", of(made, "fires") + f"?limit=2&cursor={page['nextCursor']}", acme.key)).json
    assert ([each["jobIds"] for each in rest["fires"]], rest["nextCursor"]) == (ids[:1], None)
    assert (await api.call("GET", of(made, "fires") + "?cursor=-1", acme.key)).json["field"] == "cursor"


async def test_the_command_line_lists_and_triggers(api: Api, acme: Tenant) -> None:
    made = await make(api, acme, tags=["daily"])
    await make(api, acme)
    async with Client(api.url, acme.key) as client:
        [listed] = (await client.schedules(tags=["daily"], limit=5)).schedules
        fired = [await client.trigger(listed.schedule_id, idempotency_key="press-1") for _ in range(2)]
    assert (listed.schedule_id, listed.next_run_at) == (made["scheduleId"], made["nextRunAt"])
    assert fired[0] == fired[1]
    assert len(fired[0].job_ids) == 1


async def test_a_fire_of_an_org_with_erasure_is_sealed_and_makes_the_same_jobs_whoever_makes_it(
    api: Api, acme: Tenant, with_operator: Settings
) -> None:
    made = await make(api, acme, work={"urls": ["https://shop.example/1", "https://shop.example/2"]})
    pool: Pool = AsyncConnectionPool(with_operator.postgres, min_size=1, max_size=2, open=False)
    async with pool:
        keys = JobKeys(pool, Vault(with_operator.credentials_key))
        await keys.turn("acme", on=True)
        [found] = await schedules.page(pool, "acme", TagFilter(), enabled=None, before=after(None), limit=5)
        fields = {name: getattr(found, name) for name in schedules.Schedule.__dataclass_fields__}
        due = schedules.DueSchedule(**fields, partition=acme.partition)
        book = StoredBook(pool, keys, allowed=())
        asks = {"command_id": "f", "org_id": "acme"}
        one, again = [await book.submission(due, asks, 1_800_000_000_000_000) for _ in range(2)]
        later = await book.submission(due, asks, 1_800_000_060_000_000)
        held = await keys.of([("acme", job.job_id) for job in one.jobs])
    assert made["scheduleId"] == one.schedule_id
    assert all(is_sealed(job.private) for job in one.jobs)
    ids = [job.job_id for job in one.jobs]
    assert ids == [job.job_id for job in again.jobs]
    assert len({*ids, *(job.job_id for job in later.jobs)}) == 4
    assert all(map(is_uuid, ids))
    first = held["acme", ids[0]]
    assert b"https://shop.example/1" in unsealed(again.jobs[0].private, first, ("acme", ids[0]))
