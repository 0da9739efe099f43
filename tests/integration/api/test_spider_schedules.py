"""Schedules of spiders: numbered, toggled, deleted, run now, and fired with the latest version or a pinned one."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import aiohttp
import msgspec
import psycopg
import pytest
from psycopg_pool import AsyncConnectionPool

from api.config import deploys, schedules
from api.config.deploys import Archive
from api.config.reseal import reseal
from api.config.store import Pool
from api.errors import Problem
from schemas.values import Vocabulary
from services.ledger.commands import FireSchedule, SubmitJobs
from services.runtime.kept_secrets import Owner, opened_for
from services.runtime.sealing import Sealer, new_key
from services.runtime.settings import Settings
from services.runtime.shredding.store import JobKeys
from services.runtime.shredding.vault import Vault
from services.scheduler.book import StoredBook
from tests.integration.api.conftest import OPERATOR, Api, Tenant, running
from tests.integration.api.pocket import PocketLedger
from tests.integration.api.spider_work import make_destination, make_project, make_schedule

PATH = "/spider/schedules"


@pytest.fixture
async def pool(with_operator: Settings) -> AsyncIterator[Pool]:
    """What the scheduler has of the configuration."""
    pool: Pool = AsyncConnectionPool(with_operator.postgres, min_size=1, max_size=2, open=False)
    async with pool:
        yield pool


@pytest.fixture
async def shop(api: Api, acme: Tenant, pool: Pool) -> Tenant:
    """Acme with a project of which a version with one spider is deployed."""
    await make_project(api, acme)
    await deploy(pool, "one")
    return acme


async def deploy(pool: Pool, *spiders: str) -> None:
    """Deploy a version of acme's shop, whose archive nobody reads here."""
    digest = "".join(spiders).encode().hex().ljust(64, "0")
    made = await deploys.add(
        pool, "acme", "shop", Archive(f"acme/spider-archives/{digest}", digest, 1, spiders), "", ""
    )
    assert made is not None


async def listed(api: Api, key: str, query: str = "") -> list[dict[str, Any]]:
    """Return the schedules that a key sees."""
    return list((await api.call("GET", PATH + query, key)).json["schedules"])


def private_of(command: SubmitJobs) -> Any:
    """Return the run options of a submission."""
    [job] = command.jobs
    return msgspec.json.decode(job.private[1:])["input"]


async def test_a_schedule_has_a_number_its_run_and_when_it_is_due_and_stays_apart(
    api: Api, shop: Tenant, rival: Tenant
) -> None:
    made = await make_schedule(api, shop, env={"A": "s3cr3t"}, settings={"LOG_STATS": False}, timezone="Europe/Berlin")
    assert isinstance(made["id"], int)
    assert (made["org"], made["project"], made["spiders"], made["deploy_version"]) == ("acme", "shop", ["one"], None)
    assert (made["settings"], made["env"], made["enabled"]) == ({"LOG_STATS": False}, {"A": None}, True)
    assert made["next_run_at"]
    for query, key in (("", shop.key), ("?project=shop", shop.key), ("", OPERATOR), ("?org=acme", OPERATOR)):
        assert await listed(api, key, query) == [made]
    assert await listed(api, rival.key) == await listed(api, shop.key, "?project=other") == []
    assert (await api.call("GET", "/api/v1/schedules", shop.key)).json["schedules"] == []
    for key, number in ((rival.key, made["id"]), (shop.key, "x"), (OPERATOR, 10**15)):
        assert (await api.call("POST", f"{PATH}/{number}/toggle", key)).status == 404
        assert (await api.call("POST", f"{PATH}/{number}/run", key)).status == 404
        assert (await api.call("DELETE", f"{PATH}/{number}", key)).status == 404
    assert (await api.call("DELETE", f"{PATH}/{made['id']}?org=acme", rival.key)).status == 403


async def test_it_is_toggled_there_and_back_and_deleted(api: Api, shop: Tenant) -> None:
    made = await make_schedule(api, shop)
    one = f"{PATH}/{made['id']}"
    off = (await api.call("POST", f"{one}/toggle", shop.key)).json
    assert (off["enabled"], off["next_run_at"]) == (False, None)
    on = (await api.call("POST", f"{one}/toggle", OPERATOR)).json
    assert on == made
    deleted = await api.call("DELETE", one, shop.key)
    assert (deleted.status, deleted.json) == (200, {"id": made["id"], "deleted": True})
    assert (await api.call("DELETE", one, shop.key)).status == 404
    assert await listed(api, shop.key) == []


@pytest.mark.parametrize("enabled", [True, False])
async def test_run_now_submits_one_job_and_does_not_move_the_clock(
    api: Api, shop: Tenant, pocket: PocketLedger, enabled: bool
) -> None:
    made = await make_schedule(api, shop, enabled=enabled, priority=7, timeout_seconds=60)
    await make_destination(api, shop)
    key = {"Idempotency-Key": "now-1"}
    came = [await api.call("POST", f"{PATH}/{made['id']}/run", shop.key, headers=key) for _ in range(2)]
    assert [each.status for each in came] == [201, 200]
    assert came[0].json == came[1].json
    assert came[0].json["next_run_at"] == made["next_run_at"]
    assert [each["next_run_at"] for each in await listed(api, shop.key)] == [made["next_run_at"]]
    [fired, _] = [each for each in pocket.commands if isinstance(each, FireSchedule)]
    command = fired.submission
    assert command is not None
    assert (command.vocabulary, command.workflow_id, command.workflow_version) == (Vocabulary.SPIDER, "shop", 1)
    assert (command.priority, command.max_run_seconds, command.workflow_ref[:21]) == (7, 60, "acme/spider-archives/")
    assert [(each.kind, each.gating) for each in command.destinations] == [("customer_postgres", False)]
    assert (private_of(command)["spiders"], private_of(command)["deploy_version"]) == (["one"], 1)
    pocket.project()
    assert [each["last_run_at"] is not None for each in await listed(api, shop.key)] == [True]


async def test_its_env_is_sealed_and_its_job_runs_with_it_and_names_it_by_its_number(
    api: Api, shop: Tenant, pocket: PocketLedger, with_operator: Settings
) -> None:
    made = await make_schedule(api, shop, env={"A": "s3cr3t"})
    assert (made["env"], await listed(api, shop.key)) == ({"A": None}, [made])
    with psycopg.connect(with_operator.postgres) as connection:
        [(text, sealed, schedule_id)] = connection.execute(
            "SELECT s::text, sealed, schedule_id FROM config.schedules s"
        ).fetchall()
    assert "s3cr3t" not in text
    fresh = new_key()
    assert reseal(with_operator.postgres, Sealer(f"{fresh},{with_operator.credentials_key}")) == 1
    assert reseal(with_operator.postgres, Sealer(f"{with_operator.credentials_key},{fresh}")) == 1
    owner = Owner("schedule", "acme", schedule_id)
    assert opened_for(Sealer(with_operator.credentials_key), owner, bytes(sealed)) == {"env": {"A": "s3cr3t"}}
    key = (await api.call("POST", f"{PATH}/{made['id']}/run", shop.key)).json["key"]
    [fired] = [each for each in pocket.commands if isinstance(each, FireSchedule)]
    assert fired.submission
    assert private_of(fired.submission)["env"] == {"A": "s3cr3t"}
    assert (await api.call("GET", f"/spider/jobs/{key}", shop.key)).json["schedule_id"] == made["id"]
    body = {"name": "x", "cron": "0 6 * * *", "work": {"url": "https://shop.example/"}}
    other = await api.call("PUT", f"/api/v1/schedules/{schedule_id}", shop.key, body, headers={"If-Match": "*"})
    assert other.status == 404  # what it runs is no workflow


async def test_without_a_key_no_env_is_kept(
    api: Api, shop: Tenant, with_operator: Settings, pocket: PocketLedger, session: aiohttp.ClientSession
) -> None:
    async with running(replace(with_operator, credentials_key=""), pocket, session) as bare:
        body = {"project": "shop", "name": "daily", "cron": "0 6 * * *", "spiders": ["one"], "env": {"A": "b"}}
        assert (await bare.call("POST", PATH, shop.key, body)).status == 501
        assert (await bare.call("POST", PATH, shop.key, {**body, "env": {}})).status == 201


async def test_a_fire_has_the_latest_version_or_the_pinned_one_and_the_same_job_whoever_makes_it(
    api: Api, shop: Tenant, pool: Pool
) -> None:
    await make_schedule(api, shop)
    await make_schedule(api, shop, deploy_version=1)
    await deploy(pool, "one", "two")
    found = await schedules.of_projects(pool, ["acme"], None)
    book = StoredBook(pool, JobKeys(pool, Vault("")), allowed=())
    asks = {"command_id": "f", "org_id": "acme"}
    versions, ids = [], []
    for each in found:
        fields = {name: getattr(each, name) for name in schedules.Schedule.__dataclass_fields__}
        due = schedules.DueSchedule(**fields, partition=0)
        both = [await book.submission(due, asks, 1_800_000_000_000_000) for _ in range(2)]
        versions.append(both[0].workflow_version)
        ids.append({made.jobs[0].job_id for made in both})
    assert versions == [2, 1]
    assert [len(each) for each in ids] == [1, 1]


async def test_what_is_due_of_a_project_that_is_gone_is_refused_and_fires_no_more(
    api: Api, shop: Tenant, pool: Pool, pocket: PocketLedger
) -> None:
    await make_schedule(api, shop)
    [found] = await schedules.of_projects(pool, ["acme"], "shop")
    pocket.project()
    assert (await api.call("DELETE", "/spider/projects/acme/shop", shop.key)).status == 200
    fields = {name: getattr(found, name) for name in schedules.Schedule.__dataclass_fields__}
    book = StoredBook(pool, JobKeys(pool, Vault("")), allowed=())
    with pytest.raises(Problem) as refused:
        await book.submission(schedules.DueSchedule(**fields, partition=0), {"org_id": "acme"}, 1)
    assert refused.value.code == "not_found"
    assert await schedules.of_projects(pool, ["acme"], None) == []


@pytest.mark.parametrize(
    ("change", "status", "field"),
    [
        ({"cron": "61 * * * *"}, 422, "cron"),
        ({"cron": "* * * * * *"}, 422, "cron"),
        ({"timezone": "Mars/Olympus"}, 422, "timezone"),
        ({"spiders": []}, 422, "spiders"),
        ({"spiders": ["unheard-of"]}, 422, "spiders"),
        ({"deploy_version": 9}, 422, "deploy_version"),
        ({"memory": 1}, 422, "memory"),
        ({"settings": {"a b": 1}}, 422, "settings"),
        ({"due": "now"}, 422, "due"),
        ({"project": "nothing"}, 404, None),
    ],
)
async def test_what_could_never_run_is_refused_with_its_field(
    api: Api, shop: Tenant, change: dict[str, Any], status: int, field: str | None
) -> None:
    body = {"project": "shop", "name": "daily", "cron": "0 6 * * *", "spiders": ["one"], **change}
    refused = await api.call("POST", PATH, shop.key, body)
    assert refused.status == status, refused.json
    if field:
        assert [each["field"] for each in refused.json["detail"]["errors"]] == [field]
    assert await listed(api, shop.key) == []
