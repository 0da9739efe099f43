"""Spider jobs at the API, call by call as their published API has them."""

from typing import Any

import pytest

from services.ledger.commands import ChangeOrgLimit, SubmitJobs
from services.ledger.reports import HandedBack
from services.runtime.ids import uuid7
from services.runtime.settings import Settings
from tests.integration.api.conftest import OPERATOR, Api, Tenant, submit
from tests.integration.api.pocket import PocketLedger
from tests.integration.api.spider_runs import SHOP, SpiderRunner, deploy, read, rows, submit_spiders

FIELDS = {
    "key", "org", "project", "state", "spiders", "grouped", "deploy_version", "schedule_id", "priority", "items_total",
    "items_stored", "items_buffered", "snapshot", "error_type", "reason", "delivered", "created_at", "started_at",
    "finished_at", "expired_at",
}  # fmt: skip
OPTIONS = {
    "spider_args", "settings", "env_names", "unblock", "proxy_country", "isolate_pipelines", "memory", "cpus",
    "timeout_seconds", "log_level", "late_report",
}  # fmt: skip


@pytest.fixture
async def runner(pocket: PocketLedger, with_operator: Settings, acme: Tenant, api: Api) -> SpiderRunner:
    """A runner of acme's jobs, who has deployed a shop with two spiders."""
    await deploy(with_operator, acme.org_id, "books", "toys")
    return SpiderRunner(pocket, with_operator, acme)


def submitted(pocket: PocketLedger) -> SubmitJobs:
    """The newest submission that the ledger got."""
    return [each for each in pocket.commands if isinstance(each, SubmitJobs)][-1]


async def states(api: Api, tenant: Tenant, **query: Any) -> dict[str, str]:
    """The listed jobs, by key."""
    listed = await api.call("GET", "/spider/jobs", tenant.key, params=query)
    assert listed.status == 200, listed.json
    return {each["key"]: each["state"] for each in listed.json["jobs"]}


async def test_a_job_is_there_from_the_first_moment_and_has_every_field(
    api: Api, acme: Tenant, pocket: PocketLedger, runner: SpiderRunner
) -> None:
    body = {**SHOP, "org": "acme", "spider_args": {"pages": 2}, "env": {"TOKEN": "s3cret"}, "memory": "256m"}
    made = await api.call("POST", "/spider/jobs", acme.key, body)
    assert (made.status, made.headers["Location"]) == (201, f"/spider/jobs/{made.json['key']}")
    assert set(made.json) == FIELDS | OPTIONS
    fresh = await read(api, acme, made.json["key"])
    pocket.project()
    stored = await read(api, acme, made.json["key"], min_position=made.headers["Ledger-Position"])
    assert fresh.json == stored.json
    assert stored.json["state"] == "dispatched"
    assert (stored.json["spider_args"], stored.json["env_names"]) == ({"pages": "2"}, ["TOKEN"])
    assert "s3cret" not in stored.body.decode()
    assert (stored.json["isolate_pipelines"], stored.json["memory"], stored.json["deploy_version"]) == (True, 256, 1)
    [listed] = (await api.call("GET", "/spider/jobs", acme.key)).json["jobs"]
    assert listed == {name: stored.json[name] for name in FIELDS}


async def test_project_and_version_are_fixed_at_submit_and_a_newer_deploy_changes_nothing(
    api: Api, acme: Tenant, pocket: PocketLedger, runner: SpiderRunner, with_operator: Settings
) -> None:
    key = await submit_spiders(api, acme)
    command = submitted(pocket)
    assert (command.workflow_id, command.workflow_version, command.workflow_ref) == ("shop", 1, "deploys/acme/0")
    await deploy(with_operator, acme.org_id, "books", digest="1")
    assert (await read(api, acme, key)).json["deploy_version"] == 1
    newer = await submit_spiders(api, acme, deploy_version="latest")
    older = await submit_spiders(api, acme, "toys", deploy_version=1)
    assert [(await read(api, acme, each)).json["deploy_version"] for each in (newer, older)] == [2, 1]
    gone = await api.call("POST", "/spider/jobs", acme.key, {**SHOP, "spiders": ["toys"]})
    assert gone.json["detail"]["errors"] == [{"field": "spiders", "message": "version 2 has no toys; there are books"}]


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({"project": "none"}, 404, None),
        ({"deploy_version": 7}, 422, "deploy_version"),
        ({"spiders": []}, 422, "spiders"),
        ({"spiders": ["cars"]}, 422, "spiders"),
        ({"memory": 1}, 422, "memory"),
        ({"memory_mb": 64}, 422, "memory_mb"),
        ({"unblock": "some"}, 422, "unblock"),
        ({"env": {"PATH": "/x"}}, 422, "env"),
        ({"org": "rival"}, 403, None),
    ],
)
async def test_what_cannot_be_run_is_refused_with_its_field(
    api: Api, acme: Tenant, runner: SpiderRunner, body: dict[str, Any], status: int, field: str | None
) -> None:
    refused = await api.call("POST", "/spider/jobs", acme.key, SHOP | body)
    assert (refused.status, list(refused.json)) == (status, ["detail"])
    if field:
        assert [each["field"] for each in refused.json["detail"]["errors"]] == [field]


async def test_a_project_without_a_deploy_says_so(api: Api, acme: Tenant, with_operator: Settings) -> None:
    await deploy(with_operator, acme.org_id)
    missing = await api.call(
        "POST", "/spider/jobs", acme.key, {"project": "shop", "spiders": ["x"], "deploy_version": 9}
    )
    assert missing.status == 422


async def test_a_repeat_with_a_key_makes_no_second_job_whatever_was_deployed_since(
    api: Api, acme: Tenant, runner: SpiderRunner, with_operator: Settings
) -> None:
    key = {"Idempotency-Key": "run-1"}
    first = await api.call("POST", "/spider/jobs", acme.key, SHOP, headers=key)
    await deploy(with_operator, acme.org_id, "books", digest="2")
    again = await api.call("POST", "/spider/jobs", acme.key, SHOP | {"org": "acme"}, headers=key)
    assert (again.status, again.headers["Idempotency-Replayed"], again.json) == (200, "true", first.json)
    other = await api.call("POST", "/spider/jobs", acme.key, SHOP | {"priority": 1}, headers=key)
    assert (other.status, other.json["detail"]["errors"][0]["field"]) == (409, "Idempotency-Key")


async def test_several_spiders_are_one_grouped_job(api: Api, acme: Tenant, runner: SpiderRunner) -> None:
    key = await submit_spiders(api, acme, "books", "toys", grouped=False)
    shown = (await read(api, acme, key)).json
    assert (shown["grouped"], shown["spiders"]) == (True, ["books", "toys"])


async def test_every_state_is_listed_and_asked_for(
    api: Api, acme: Tenant, pocket: PocketLedger, runner: SpiderRunner
) -> None:
    limit = ChangeOrgLimit(command_id=uuid7(), org_id="acme", requester=pocket.boot_id, max_in_flight=9)
    pocket.decide(acme.partition, limit)
    keys = {name: await submit_spiders(api, acme) for name in ("finished", "failed", "timed_out", "killed", "running")}
    for key in keys.values():
        runner.begin(key)
    runner.finish(keys["finished"], 0)
    runner.fail(keys["failed"], "critical_log", "a critical error was logged")
    runner.fail(keys["timed_out"], "timed_out")
    assert (await api.call("POST", f"/spider/jobs/{keys['killed']}/cancel", acme.key)).status == 202
    lost = await submit_spiders(api, acme)
    runner.begin(lost)
    runner.fail(lost, "worker_lost")
    limit = ChangeOrgLimit(command_id=uuid7(), org_id="acme", requester=pocket.boot_id, max_in_flight=2)
    pocket.decide(acme.partition, limit)
    keys |= {"lost": lost, "dispatched": await submit_spiders(api, acme), "pending": await submit_spiders(api, acme)}
    await submit(api, acme)  # of another vocabulary
    pocket.project()
    assert await states(api, acme) == {key: state for state, key in keys.items()}
    for state, key in keys.items():
        assert await states(api, acme, state=state) == {key: state}, state
    both = {"pending", "lost"}
    assert set((await states(api, acme, state=sorted(both))).values()) == both
    assert await states(api, acme, project="none") == {}
    assert len(await states(api, acme, project="shop", org="acme")) == len(keys)
    assert (await read(api, acme, keys["failed"])).json["reason"] == "a critical error was logged"


async def test_a_job_that_its_runner_gave_back_unbegun_is_pending_until_it_is_dispatched_again(
    api: Api, acme: Tenant, pocket: PocketLedger, runner: SpiderRunner
) -> None:
    keys = [await submit_spiders(api, acme) for _ in range(2)]
    for key in keys:
        runner.begin(key)
    limits = [
        ChangeOrgLimit(command_id=uuid7(), org_id="acme", requester=pocket.boot_id, max_in_flight=most)
        for most in (1, 2)
    ]
    pocket.decide(acme.partition, limits[0])
    pocket.finish(acme.partition, acme.org_id, keys[1], HandedBack())
    pocket.project()
    assert await states(api, acme, state="pending") == {keys[1]: "pending"}
    assert (await read(api, acme, keys[1])).json["state"] == "pending"
    pocket.decide(acme.partition, limits[1])
    pocket.project()
    assert await states(api, acme, state="dispatched") == {keys[1]: "dispatched"}
    assert await states(api, acme, state="pending") == {}


async def test_pages_of_a_list_are_newest_first_and_never_overlap(
    api: Api, acme: Tenant, pocket: PocketLedger, runner: SpiderRunner
) -> None:
    made = [await submit_spiders(api, acme) for _ in range(5)]
    pocket.project()
    seen: list[str] = []
    query: dict[str, Any] = {"limit": 2}
    for _ in range(3):
        page = (await api.call("GET", "/spider/jobs", acme.key, params=query)).json
        seen += [each["key"] for each in page["jobs"]]
        query["cursor"] = page["next_cursor"]
    assert seen == made[::-1]
    assert page["next_cursor"] is None
    bad = await api.call("GET", "/spider/jobs", acme.key, params={"cursor": "x"})
    assert bad.json["detail"]["errors"][0]["field"] == "cursor"


async def test_a_job_that_never_began_leaves_the_queue_and_stays_on_record(
    api: Api, acme: Tenant, pocket: PocketLedger, runner: SpiderRunner
) -> None:
    limit = ChangeOrgLimit(command_id=uuid7(), org_id="acme", requester=pocket.boot_id, max_in_flight=1)
    pocket.decide(acme.partition, limit)
    first, waiting = await submit_spiders(api, acme), await submit_spiders(api, acme)
    for key in (waiting, first):  # one in the queue, and one that is dispatched
        path = f"/spider/jobs/{key}/cancel"
        headers = {"Idempotency-Key": f"stop-{key}"}
        stopped = await api.call("POST", path, acme.key, headers=headers)
        assert (stopped.status, stopped.json) == (202, {"key": key, "state": "killed"})
        pocket.project()
        kept = (await read(api, acme, key)).json
        assert (kept["state"], kept["started_at"], kept["snapshot"]) == ("killed", None, False)
        assert (await api.call("POST", path, acme.key, headers=headers)).status == 202
        assert (await api.call("POST", path, acme.key)).status == 409


async def test_a_stopped_job_keeps_its_items(
    api: Api, acme: Tenant, pocket: PocketLedger, runner: SpiderRunner
) -> None:
    key = await submit_spiders(api, acme)
    runner.begin(key)
    await runner.scrape(key, *rows(3))
    assert (await api.call("POST", f"/spider/jobs/{key}/cancel", acme.key)).json["state"] == "killed"
    pocket.project()
    page = (await read(api, acme, key, "/items")).json
    assert (page["status"], len(page["items"]), page["snapshot"]) == ("killed", 3, False)


async def test_a_job_of_another_org_or_kind_is_none(
    api: Api, acme: Tenant, rival: Tenant, pocket: PocketLedger, runner: SpiderRunner
) -> None:
    key, other = await submit_spiders(api, acme), await submit(api, acme)
    for _ in range(2):
        for part in ("", "/items", "/items/download", "/logs", "/logs/download", "/stats"):
            assert (await read(api, rival, key, part)).status == 404
            assert (await read(api, rival, key, part, org="acme")).status == 403
            assert (await read(api, acme, other, part)).status == 404
        assert (await api.call("POST", f"/spider/jobs/{key}/cancel", rival.key)).status == 404
        assert await states(api, rival) == {}
        pocket.project()


async def test_the_operator_runs_and_reads_jobs_of_any_org(
    api: Api, acme: Tenant, rival: Tenant, pocket: PocketLedger, runner: SpiderRunner
) -> None:
    nameless = await api.call("POST", "/spider/jobs", OPERATOR, SHOP)
    assert (nameless.status, nameless.json["detail"]["errors"][0]["field"]) == (422, "org")
    made = await api.call("POST", "/spider/jobs", OPERATOR, SHOP | {"org": "acme"})
    assert (made.status, made.json["org"]) == (201, "acme")
    key = made.json["key"]
    operator = Tenant("", 0, OPERATOR)
    for _ in range(2):
        assert (await read(api, operator, key)).json["key"] == key
        assert (await read(api, operator, key, org="acme")).json["key"] == key
        assert (await read(api, operator, key, org="rival")).status == 404
        assert (await read(api, operator, uuid7())).status == 404
        pocket.project()
    where = {"min_position": made.headers["Ledger-Position"], "org": "acme"}
    assert list(await states(api, operator, **where)) == [key]
    assert (await api.call("POST", f"/spider/jobs/{key}/cancel", OPERATOR)).status == 202


async def test_spiders_of_a_project_have_the_items_of_their_own_runs_and_grouped_ones_apart(
    api: Api, acme: Tenant, rival: Tenant, pocket: PocketLedger, runner: SpiderRunner, with_operator: Settings
) -> None:
    path = "/spider/projects/acme/shop/spiders"
    empty = (await api.call("GET", path, acme.key)).json["spiders"]
    shown = [{name: each[name] for name in ("spider", "runs", "items", "grouped_runs", "last_run")} for each in empty]
    nothing = {"runs": 0, "items": 0, "grouped_runs": 0, "last_run": None}
    assert shown == [{"spider": "books", **nothing}, {"spider": "toys", **nothing}]
    alone = [await submit_spiders(api, acme, "books") for _ in range(2)]
    grouped = await submit_spiders(api, acme, "books", "toys")
    for number, key in enumerate([*alone, grouped], 2):
        runner.begin(key)
        await runner.scrape(key, *rows(number))
        runner.finish(key, number)
    last = await submit_spiders(api, acme, "toys")
    await deploy(with_operator, acme.org_id, "books", digest="3")
    pocket.project()
    books, toys = (await api.call("GET", path, acme.key)).json["spiders"]
    assert (books["runs"], books["items"], books["grouped_runs"], books["in_latest_deploy"]) == (2, 5, 1, True)
    assert (books["last_run"]["key"], books["last_run"]["items_total"]) == (grouped, 4)
    assert (toys["runs"], toys["items"], toys["grouped_runs"], toys["in_latest_deploy"]) == (1, 0, 1, False)
    assert (toys["last_run"]["key"], toys["last_run"]["state"]) == (last, "dispatched")
    assert (await api.call("GET", path, rival.key)).status == 403
    assert (await api.call("GET", "/spider/projects/acme/none/spiders", acme.key)).status == 404
