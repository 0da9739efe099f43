"""Schedules over HTTP: made, read, listed by tags, changed, switched, triggered, and what they led to."""

import asyncio
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest

from services.runtime.settings import Settings
from tests.integration.api.conftest import Api, Tenant
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


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        (
            {"cron": "61 * * * *", "timezone": "Mars/Olympus", "work": {"urls": ["nothing", "ftp://x"]}},
            ["timezone", "cron", "work.urls[0]", "work.urls[1]"],
        ),
        (
            {"cron": "61 * * * *", "work": {"url": "ftp://x", "priority": "high"}, "tags": ["!"]},
            ["work.priority", "tags[0]", "cron", "work.url"],
        ),
        ({"name": "", "cron": 7, "work": {"workflowId": 7}}, ["name", "cron", "work.workflowId", "work.url"]),
        ({"name": 7, "timezone": 7, "work": 7}, ["name", "work", "timezone"]),
    ],
)
async def test_everything_that_is_wrong_with_a_schedule_is_named_at_once(
    api: Api, acme: Tenant, body: dict[str, Any], fields: list[str]
) -> None:
    refused = await api.call("POST", PATH, acme.key, {"name": "n", "cron": "0 6 * * *", "work": WORK, **body})
    assert [each["field"] for each in refused.json["problems"]] == fields
    assert (refused.status, refused.json["field"]) == (422, fields[0])


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


async def test_a_schedule_whose_timezone_is_none_any_more_is_not_enabled_and_keeps_no_other_from_it(
    api: Api, acme: Tenant, settings: Settings
) -> None:
    off = [await make(api, acme, enabled=False, tags=["t"], name=name) for name in ("a", "b", "c")]
    with psycopg.connect(settings.postgres, autocommit=True) as connection:
        connection.execute("UPDATE config.schedules SET timezone = 'Mars/Olympus' WHERE name = 'b'")
    one = await api.call("POST", of(off[1], "enable"), acme.key)
    every = await api.call("POST", f"{PATH}/enable", acme.key, {"tagFilter": {"any": ["t"]}})
    for answer in (one, every):
        assert (answer.status, answer.json["error"], answer.json["field"]) == (422, "invalid_field", "timezone")
        assert "Mars/Olympus" in answer.json["message"]
    assert [(await api.call("GET", of(each), acme.key)).json["enabled"] for each in off] == [True, False, True]


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


async def test_large_work_is_left_out_of_lists_which_say_so_and_is_fired_all_the_same(api: Api, acme: Tenant) -> None:
    large = {"url": "https://shop.example/1", "metadata": {"text": "x" * 5000}}
    made = [await make(api, acme, name=name, tags=["x"], work=work) for name, work in (("s", WORK), ("l", large))]
    page = (await api.call("GET", PATH, acme.key)).json["schedules"]
    assert [(each["work"], each["workOmitted"]) for each in page] == [(None, True), (WORK, False)]
    whole = (await api.call("GET", of(made[1]), acme.key)).json
    assert (whole["work"]["metadata"], whole["workOmitted"]) == (large["metadata"], False)
    body = {"tagFilter": {"all": ["x"]}}
    switched = (await api.call("POST", f"{PATH}/enable", acme.key, body)).json["schedules"]
    assert [(each["work"], each["workOmitted"]) for each in switched] == [(None, True), (WORK, False)]
    fired = (await api.call("POST", f"{PATH}/trigger", acme.key, body)).json["schedules"]
    assert [len(each["jobIds"]) for each in fired] == [1, 1]


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
