"""Schedules over HTTP: made, read, listed by tags, changed, switched, triggered, and what they led to."""

import asyncio
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest
from psycopg_pool import AsyncConnectionPool

from api.config import schedules
from api.config.schedules import TagFilter
from api.config.store import Pool
from api.schedules.shown import after
from schemas.events import JobSubmitted, ScheduleFired
from schemas.values import FireKind
from services.cli.client import Client
from services.runtime.ids import is_uuid
from services.runtime.settings import Settings
from services.runtime.shredding.codec import is_sealed, unsealed
from services.runtime.shredding.store import JobKeys
from services.runtime.shredding.vault import Vault
from services.scheduler.book import StoredBook
from tests.integration.api.conftest import OPERATOR, WORKFLOW, Api, Tenant
from tests.integration.api.pocket import PocketLedger

PATH = "/api/v1/schedules"
WORK = {"url": "https://shop.example/1", "metadata": {"run": "daily"}, "priority": 3, "maxQueueSeconds": 600}


async def make(api: Api, tenant: Tenant, **more: Any) -> dict[str, Any]:
    """Make a schedule of every day."""
    made = await api.call("POST", PATH, tenant.key, {"name": "daily", "cron": "0 6 * * *", "work": WORK, **more})
    assert made.status == 201, made.json
    return dict(made.json)


def of(schedule: dict[str, Any], what: str = "") -> str:
    """Return the path of a schedule, or of a call on it."""
    return f"{PATH}/{schedule['scheduleId']}{what and '/'}{what}"


def instant(text: str) -> datetime:
    """Return the time in an answer."""
    return datetime.fromisoformat(text)


async def test_a_schedule_is_made_and_read_with_when_it_fires_next(api: Api, acme: Tenant) -> None:
    made = await api.call(
        "POST",
        PATH,
        acme.key,
        {"name": "daily", "cron": "30 6 * * *", "timezone": "Europe/Berlin", "work": WORK, "tags": ["eu", "daily"]},
    )
    assert made.status == 201
    assert made.headers["Location"] == of(made.json)
    assert made.headers["ETag"] == '"1"'
    read = await api.call("GET", of(made.json), acme.key)
    assert read.json == made.json
    assert (read.json["work"], read.json["tags"], read.json["missed"]) == (WORK, ["eu", "daily"], "once")
    assert (read.json["enabled"], read.json["lastRunAt"]) == (True, None)
    due = instant(read.json["nextRunAt"])
    assert due > datetime.now(UTC)
    assert (due.hour, due.minute) in ((4, 30), (5, 30))  # by the clock of Berlin


@pytest.mark.parametrize(
    ("change", "status", "code", "field"),
    [
        ({"cron": "61 * * * *"}, 422, "invalid_field", "cron"),
        ({"cron": "0 0 31 2 *"}, 422, "invalid_field", "cron"),
        ({"cron": "* * * * * *"}, 422, "invalid_field", "cron"),
        ({"timezone": "Mars/Olympus"}, 422, "invalid_field", "timezone"),
        ({"missed": "twice"}, 422, "invalid_field", "missed"),
        ({"tags": ["a b"]}, 422, "invalid_field", "tags[0]"),
        ({"tags": ["a\n"]}, 422, "invalid_field", "tags[0]"),
        ({"work": {}}, 422, "invalid_field", "work.url"),
        ({"work": {"url": "ftp://x"}}, 422, "invalid_field", "work.url"),
        ({"work": {"urls": ["https://a.example/", "nothing"]}}, 422, "invalid_field", "work.urls[1]"),
        ({"work": {**WORK, "workflowId": "unheard-of"}}, 422, "unknown_workflow", "work.workflowId"),
        ({"work": {**WORK, "input": {"a": "x" * 40_000}}}, 413, "too_large", "work.input"),
        ({"work": {"urls": [f"https://a.example/{n}" for n in range(501)]}}, 413, "too_large", "work.urls"),
        ({"nextRunAt": "now"}, 422, "invalid_field", "nextRunAt"),
    ],
)
async def test_what_is_no_schedule_is_refused_with_the_field_at_fault(
    api: Api, acme: Tenant, change: dict[str, Any], status: int, code: str, field: str
) -> None:
    refused = await api.call("POST", PATH, acme.key, {"name": "n", "cron": "0 6 * * *", "work": WORK, **change})
    assert (refused.status, refused.json["error"], refused.json["field"]) == (status, code, field)


async def test_an_edit_needs_the_etag_and_moves_the_clock_only_where_it_changes_it(api: Api, acme: Tenant) -> None:
    made = await make(api, acme)
    body = {"name": "renamed", "cron": made["cron"], "work": {"url": "https://shop.example/2"}}
    assert (await api.call("PUT", of(made), acme.key, body)).status == 428
    stale = await api.call("PUT", of(made), acme.key, body, headers={"If-Match": '"7"'})
    assert (stale.status, stale.json["error"], stale.headers["ETag"]) == (412, "version_changed", '"1"')
    kept = await api.call("PUT", of(made), acme.key, body, headers={"If-Match": '"1"'})
    assert (kept.status, kept.headers["ETag"], kept.json["nextRunAt"]) == (200, '"2"', made["nextRunAt"])
    assert (kept.json["name"], kept.json["work"]) == (
        "renamed",
        {"url": "https://shop.example/2", "priority": 0, "maxQueueSeconds": 0},
    )
    again = await api.call("PUT", of(made), acme.key, body, headers={"If-Match": '"2"'})
    assert again.headers["ETag"] == '"2"'  # nothing changed
    moved = await api.call("PUT", of(made), acme.key, {**body, "cron": "0 7 * * *"}, headers={"If-Match": "*"})
    assert moved.json["nextRunAt"] != made["nextRunAt"]


async def test_a_disabled_schedule_has_no_next_run_and_an_enabled_one_begins_anew(api: Api, acme: Tenant) -> None:
    made = await make(api, acme)
    off = await api.call("POST", of(made, "disable"), acme.key)
    assert (off.json["enabled"], off.json["nextRunAt"], off.json["version"]) == (False, None, 2)
    assert (await api.call("POST", of(made, "disable"), acme.key)).json["version"] == 2
    on = await api.call("POST", of(made, "enable"), acme.key, headers={"If-Match": '"2"'})
    assert (on.json["enabled"], on.json["nextRunAt"], on.json["version"]) == (True, made["nextRunAt"], 3)
    stale = await api.call("POST", of(made, "disable"), acme.key, headers={"If-Match": '"2"'})
    assert stale.status == 412


async def test_a_deleted_schedule_is_gone_and_its_jobs_stay(api: Api, acme: Tenant, pocket: PocketLedger) -> None:
    made = await make(api, acme)
    [job_id] = (await api.call("POST", of(made, "trigger"), acme.key)).json["jobIds"]
    assert (await api.call("DELETE", of(made), acme.key)).json["deleted"] is True
    for method, path in (("GET", ""), ("DELETE", ""), ("POST", "trigger"), ("GET", "fires"), ("POST", "enable")):
        assert (await api.call(method, of(made, path), acme.key)).status == 404
    pocket.project()
    assert (await api.call("GET", f"/api/v1/jobs/{job_id}", acme.key)).json["scheduleId"] == made["scheduleId"]


async def test_schedules_are_listed_by_tags_page_by_page(api: Api, acme: Tenant, rival: Tenant) -> None:
    made = [await make(api, acme, name=f"s{n}", tags=["all", f"n{n % 2}"]) for n in range(5)]
    await make(api, rival, tags=["all"])
    await api.call("POST", of(made[0], "disable"), acme.key)

    async def names(query: str) -> list[str]:
        return [each["name"] for each in (await api.call("GET", f"{PATH}?{query}", acme.key)).json["schedules"]]

    assert await names("tagsAll=all,n0") == ["s4", "s2", "s0"]
    assert await names("tagsAny=n1,nobody") == ["s3", "s1"]
    assert await names("tagsNone=n1&enabled=true") == ["s4", "s2"]
    found, cursor = [], ""
    for _ in range(3):
        page = (await api.call("GET", f"{PATH}?limit=2{cursor and '&cursor='}{cursor}", acme.key)).json
        found += [each["name"] for each in page["schedules"]]
        cursor = page["nextCursor"] or ""
        await make(api, acme, name="later")  # what is made meanwhile moves no page
    assert (found, cursor) == (["s4", "s3", "s2", "s1", "s0"], "")
    for query, field in (("cursor=nonsense", "cursor"), ("tagsAny=a%20b", "tagsAny"), ("limit=0", "limit")):
        refused = await api.call("GET", f"{PATH}?{query}", acme.key)
        assert (refused.status, refused.json["field"]) == (422, field)


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


async def test_a_schedule_is_made_once_for_its_key(api: Api, acme: Tenant, rival: Tenant) -> None:
    body, key = {"name": "daily", "cron": "0 6 * * *", "work": WORK}, {"Idempotency-Key": "make-1"}
    both = await asyncio.gather(*(api.call("POST", PATH, acme.key, body, headers=key) for _ in range(2)))
    assert sorted(each.status for each in both) == [200, 201]
    assert both[0].json == both[1].json
    assert [each.headers.get("Idempotency-Replayed") for each in both if each.status == 200] == ["true"]
    assert len((await api.call("GET", PATH, acme.key)).json["schedules"]) == 1
    other = await api.call("POST", PATH, acme.key, {**body, "cron": "0 7 * * *"}, headers=key)
    assert (other.status, other.json["error"], other.json["field"]) == (409, "idempotency_conflict", "Idempotency-Key")
    theirs = await api.call("POST", PATH, rival.key, body, headers=key)
    assert (theirs.status, theirs.json["scheduleId"] == both[0].json["scheduleId"]) == (201, False)
    assert (await api.call("POST", PATH, acme.key, body, headers={"Idempotency-Key": "a b"})).status == 422
    assert (await api.call("POST", PATH, acme.key, body)).status == 201, "without a key each call makes one"


async def test_a_key_of_a_trigger_belongs_to_its_schedule(api: Api, acme: Tenant) -> None:
    one, other = await make(api, acme), await make(api, acme)
    key = {"Idempotency-Key": "press-1"}
    assert (await api.call("POST", of(one, "trigger"), acme.key, headers=key)).status == 201
    conflict = await api.call("POST", of(other, "trigger"), acme.key, headers=key)
    assert (conflict.status, conflict.json["error"]) == (409, "idempotency_conflict")


async def test_the_jobs_of_a_fire_have_the_time_in_the_queue_that_its_work_gives_them(api: Api, acme: Tenant) -> None:
    for work, limited in ((WORK, True), ({"url": WORK["url"]}, False)):
        made = await make(api, acme, work=work)
        [job_id] = (await api.call("POST", of(made, "trigger"), acme.key)).json["jobIds"]
        why = await api.call("GET", f"/api/v1/jobs/{job_id}/explain", acme.key)
        assert (why.json["expiresAt"] is not None) is limited


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


async def test_an_org_has_a_bounded_number_of_schedules(api: Api, acme: Tenant, with_operator: Settings) -> None:
    made = await make(api, acme)
    most = with_operator.schedules_per_org
    with psycopg.connect(with_operator.postgres) as connection:
        connection.execute(
            "INSERT INTO config.schedules (org_id, schedule_id, version, name, cron, timezone, work, tags, missed, "
            "enabled) SELECT org_id, 'sch-' || n, 1, name, cron, timezone, work, tags, missed, false "
            "FROM config.schedules, generate_series(2, %s) AS n WHERE schedule_id = %s",
            (most, made["scheduleId"]),
        )
    refused = await api.call("POST", PATH, acme.key, {"name": "n", "cron": "0 6 * * *", "work": WORK})
    assert (refused.status, refused.json["error"]) == (409, "too_many_schedules")


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
        book = StoredBook(pool, keys, allow_private=False)
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
