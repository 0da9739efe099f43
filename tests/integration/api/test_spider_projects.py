"""Projects of spiders: made, listed, set with secrets that nothing shows, deleted with what is queued of them."""

from typing import Any

import psycopg
import pytest

from api.config.reseal import reseal
from services.ledger.status import Status
from services.runtime.kept_secrets import Owner, opened_for
from services.runtime.sealing import Sealer, new_key
from services.runtime.settings import Settings
from tests.integration.api.conftest import OPERATOR, Api, Tenant, submit
from tests.integration.api.pocket import PocketLedger
from tests.integration.api.spider_work import make_project, submit_spider

PROJECTS = "/spider/projects"
SHOP = f"{PROJECTS}/acme/shop"
SECRET = "s3cr3t-of-acme"


def kept(settings: Settings) -> tuple[bytes, str]:
    """Return what is sealed of the one project there is, and everything that the table holds as text."""
    with psycopg.connect(settings.postgres) as connection:
        [(sealed, text)] = connection.execute("SELECT p.sealed, p::text FROM config.spider_projects p").fetchall()
    return bytes(sealed), str(text)


async def slugs(api: Api, key: str, query: str = "") -> list[str]:
    """Return which projects a key sees."""
    listed = await api.call("GET", PROJECTS + query, key)
    assert listed.status == 200, listed.json
    return [f"{each['org']}/{each['slug']}" for each in listed.json["projects"]]


async def test_a_project_is_made_once_and_seen_by_its_org_and_the_operator(
    api: Api, acme: Tenant, rival: Tenant
) -> None:
    made = await make_project(api, acme, name="The shop")
    assert (made["org"], made["slug"], made["name"]) == ("acme", "shop", "The shop")
    again = await api.call("POST", PROJECTS, acme.key, {"slug": "shop", "name": "The shop"})
    assert (again.status, again.json) == (200, made)
    other = await api.call("POST", PROJECTS, acme.key, {"slug": "shop", "name": "Other"})
    assert (other.status, other.json["detail"]["errors"][0]["field"]) == (409, "slug")
    await make_project(api, rival)
    assert await slugs(api, acme.key) == await slugs(api, acme.key, "?org=acme") == ["acme/shop"]
    assert await slugs(api, OPERATOR) == ["acme/shop", "rival/shop"]
    assert await slugs(api, OPERATOR, "?org=rival") == ["rival/shop"]
    for_rival = await api.call("POST", PROJECTS, OPERATOR, {"org": "rival", "slug": "other"})
    assert (for_rival.status, for_rival.json["name"]) == (201, "other")


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", f"{PROJECTS}?org=acme", None),
        ("POST", PROJECTS, {"org": "acme", "slug": "x"}),
        ("DELETE", SHOP, None),
        ("GET", f"{SHOP}/settings", None),
        ("PUT", f"{SHOP}/settings", {"repo_ref": "main"}),
    ],
)
async def test_another_org_gets_403_and_what_is_not_there_404(
    api: Api, acme: Tenant, rival: Tenant, method: str, path: str, body: dict[str, Any] | None
) -> None:
    await make_project(api, acme)
    refused = await api.call(method, path, rival.key, body)
    assert (refused.status, "acme" in refused.json["detail"]) == (403, False)
    for known, unknown in (("acme", "nobody"), ("shop", "nothing")):
        missing = path.replace(known, unknown)
        if missing != path or (body and known in body.values()):
            sent = body and {name: unknown if value == known else value for name, value in body.items()}
            answer = await api.call(method, missing, OPERATOR, sent)
            assert answer.status == 404, (missing, answer.json)
    assert await slugs(api, acme.key) == ["acme/shop"]


async def test_the_operator_says_which_org_is_meant(api: Api, acme: Tenant) -> None:
    refused = await api.call("POST", PROJECTS, OPERATOR, {"slug": "x"})
    assert (refused.status, refused.json["detail"]["errors"][0]["field"]) == (422, "org")


async def test_secrets_are_sealed_and_no_answer_shows_them(api: Api, acme: Tenant, with_operator: Settings) -> None:
    await make_project(api, acme)
    body = {
        "repo_url": "https://git.example/shop.git",
        "repo_ref": "main",
        "repo_token": f"{SECRET}-token",
        "env": {"SHOP_TOKEN": SECRET, "ZONE": "eu"},
    }
    saved = await api.call("PUT", f"{SHOP}/settings", acme.key, body)
    read = await api.call("GET", f"{SHOP}/settings", acme.key)
    assert (saved.status, saved.json) == (200, read.json)
    assert read.json.pop("updated_at")
    assert read.json == {
        "repo_url": "https://git.example/shop.git",
        "repo_ref": "main",
        "repo_token": None,
        "has_repo_token": True,
        "env": {"SHOP_TOKEN": None, "ZONE": None},
    }
    sealed, text = kept(with_operator)
    assert SECRET not in text + str(saved.body + read.body)
    assert SECRET.encode().hex() not in text
    owner, sealer = Owner("project", "acme", "shop"), Sealer(with_operator.credentials_key)
    assert opened_for(sealer, owner, sealed) == {"env": body["env"], "repo_token": f"{SECRET}-token"}
    fresh = new_key()
    assert reseal(with_operator.postgres, Sealer(f"{fresh},{with_operator.credentials_key}")) == 1
    assert opened_for(Sealer(fresh), owner, kept(with_operator)[0])["env"] == body["env"]


async def test_what_is_not_sent_stays_and_what_was_read_can_be_sent_back(
    api: Api, acme: Tenant, with_operator: Settings
) -> None:
    await make_project(api, acme)
    first = {"env": {"A": "1", "B": "2", "C": "3"}, "repo_token": SECRET, "repo_ref": "main"}
    before = (await api.call("PUT", f"{SHOP}/settings", acme.key, first)).json
    asked = {name: value for name, value in before.items() if name not in ("has_repo_token", "updated_at")}
    for body in ({}, {"repo_ref": None}, asked):
        again = (await api.call("PUT", f"{SHOP}/settings", acme.key, body)).json
        assert {**again, "updated_at": ""} == {**before, "updated_at": ""}
    changed = await api.call("PUT", f"{SHOP}/settings", acme.key, {"env": {"A": None, "B": "22", "D": "4"}})
    assert (list(changed.json["env"]), changed.json["repo_ref"]) == (["A", "B", "D"], "main")
    sealer = Sealer(with_operator.credentials_key)
    found = opened_for(sealer, Owner("project", "acme", "shop"), kept(with_operator)[0])
    assert found == {"env": {"A": "1", "B": "22", "D": "4"}, "repo_token": SECRET}
    without = (await api.call("PUT", f"{SHOP}/settings", acme.key, {"repo_token": "", "env": {}})).json
    assert (without["has_repo_token"], without["env"]) == (False, {})


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"env": {"JOBLEDGER_OPERATOR_KEY": "x"}}, "env"),
        ({"env": {"LD_PRELOAD": "x"}}, "env"),
        ({"env": {"a b": "x"}}, "env"),
        ({"env": {"NEW": None}}, "env"),
        ({"env": {f"V{number}": "x" * 50_000 for number in range(3)}}, "env"),
        ({"env": {"A": 7}}, "env[...]"),
        ({"repo_url": "https://user:word@git.example/"}, "repo_url"),
        ({"repo_url": "a\nb"}, "repo_url"),
        ({"repo_token": "x" * 3_000}, "repo_token"),
        ({"token": "x"}, "token"),
    ],
)
async def test_what_no_run_could_have_is_refused_with_its_field(
    api: Api, acme: Tenant, body: dict[str, Any], field: str
) -> None:
    await make_project(api, acme)
    refused = await api.call("PUT", f"{SHOP}/settings", acme.key, body)
    assert (refused.status, refused.json["detail"]["errors"][0]["field"]) == (422, field)


async def test_deleting_a_project_kills_its_queued_jobs_and_keeps_the_records_of_all(
    api: Api, acme: Tenant, pocket: PocketLedger
) -> None:
    await make_project(api, acme)
    await make_project(api, acme, "other")
    queued = [submit_spider(pocket, acme) for _ in range(3)]
    running, of_other = submit_spider(pocket, acme), submit_spider(pocket, acme, "other")
    pocket.run(acme.partition, acme.org_id, running)
    of_workflow = await submit(api, acme)
    pocket.project()
    deleted = await api.call("DELETE", SHOP, acme.key)
    assert (deleted.status, deleted.json) == (
        200,
        {"org": "acme", "slug": "shop", "deleted": True, "killed_jobs": 3},
    )
    assert await slugs(api, acme.key) == ["acme/other"]
    assert (await api.call("DELETE", SHOP, acme.key)).status == 404
    pocket.project()
    statuses = (await api.call("POST", "/api/v1/jobs/batch-status", acme.key, {"jobIds": [*queued, running]})).json
    assert [each["status"] for each in statuses["jobs"]] == ["cancelled"] * 3 + ["running"]
    assert pocket.job(acme.partition, of_other).status is Status.PENDING
    assert pocket.job(acme.partition, of_workflow).status is Status.PENDING


async def test_deleting_a_project_leaves_jobs_of_a_workflow_that_is_called_like_it(
    api: Api, acme: Tenant, pocket: PocketLedger
) -> None:
    await make_project(api, acme, "products")  # as the workflow of acme is
    of_workflow = await submit(api, acme)
    pocket.project()
    assert (await api.call("DELETE", f"{PROJECTS}/acme/products", acme.key)).json["killed_jobs"] == 0
    assert pocket.job(acme.partition, of_workflow).status is Status.PENDING


async def test_a_deletion_that_came_to_no_end_goes_on_when_it_is_repeated_and_nothing_is_left_of_the_project(
    api: Api, acme: Tenant, pocket: PocketLedger
) -> None:
    await make_project(api, acme)
    job_id = submit_spider(pocket, acme)
    pocket.project()
    pocket.down = True
    assert (await api.call("DELETE", SHOP, acme.key)).status == 503
    pocket.down = False
    assert await slugs(api, acme.key) == []
    assert (await api.call("GET", f"{SHOP}/settings", acme.key)).status == 404
    assert (await api.call("POST", PROJECTS, acme.key, {"slug": "shop"})).status == 409
    assert (await api.call("DELETE", SHOP, acme.key)).json["killed_jobs"] == 1
    pocket.project()
    assert (await api.call("GET", f"/api/v1/jobs/{job_id}", acme.key)).json["status"] == "cancelled"
    assert (await api.call("POST", PROJECTS, acme.key, {"slug": "shop"})).status == 201
