"""Deploys of spiders: a project is uploaded, tells its spiders, and gets a version; what is none is refused."""

import hashlib
from dataclasses import replace
from typing import Any

import aiohttp
import pytest

from api.spiders import uploading
from api.spiders.archives import archive_key
from services.runtime.blob import BlobStore
from services.runtime.settings import Settings
from tests.integration.api.conftest import OPERATOR, Api, Tenant, running
from tests.integration.api.pocket import PocketLedger
from tests.integration.api.spider_work import make_project, make_schedule, packed, project_of, upload

LIST = "/spider/deploys?org=acme&project=shop"


async def test_an_upload_is_a_version_with_the_spiders_of_the_project_and_its_archive_is_kept(
    api: Api, acme: Tenant, with_operator: Settings
) -> None:
    await make_project(api, acme)
    archive = project_of("prices", "a_shop")
    made = await upload(api, acme, archive, notes="first")
    assert made.status == 201, made.json
    assert made.json.pop("created_at")
    digest = hashlib.sha256(archive).hexdigest()
    assert made.json == {
        "org": "acme",
        "project": "shop",
        "version": 1,
        "image": f"sha256:{digest}",
        "size_bytes": len(archive),
        "spiders": ["a_shop", "prices"],
        "source": "test",
        "notes": "first",
    }
    assert await BlobStore(with_operator.blobs).get(archive_key("acme", digest)) == archive


async def test_the_newest_content_is_deployed_once_and_an_older_one_anew(api: Api, acme: Tenant) -> None:
    await make_project(api, acme)
    assert (await api.call("GET", LIST, acme.key)).json == {"deploys": []}
    one, two = project_of("one"), project_of("one", "two")
    came = [await upload(api, acme, archive) for archive in (one, one, two, one)]
    assert [(each.status, each.json["version"]) for each in came] == [(201, 1), (200, 1), (201, 2), (201, 3)]
    listed = (await api.call("GET", LIST, OPERATOR)).json["deploys"]
    assert [(each["version"], each["spiders"]) for each in listed] == [(3, ["one"]), (2, ["one", "two"]), (1, ["one"])]
    assert listed[0]["image"] == listed[2]["image"] != listed[1]["image"]


async def test_of_many_versions_the_oldest_go_but_those_that_a_schedule_has_pinned(
    api: Api, acme: Tenant, with_operator: Settings, pocket: PocketLedger, session: aiohttp.ClientSession
) -> None:
    await make_project(api, acme)
    one, two = project_of("one"), project_of("one", "two")
    async with running(replace(with_operator, deploys_per_project=3), pocket, session) as api:
        for archive in (one, two):
            await upload(api, acme, archive)
        await make_schedule(api, acme, deploy_version=1)
        for archive in (one, two, one):
            assert (await upload(api, acme, archive)).status == 201
        listed = (await api.call("GET", LIST, acme.key)).json["deploys"]
    assert [each["version"] for each in listed] == [5, 4, 3, 1]


@pytest.mark.parametrize(
    ("archive", "said"),
    [
        (b"no archive", "tar.gz"),
        (packed({"readme.txt": "x"}), "scrapy.cfg"),
        (packed({"../evil.py": "x"}), "evil.py"),
        (project_of("one", more="raise RuntimeError('the shop is closed')"), "the shop is closed"),
        (project_of(), "no spiders"),
    ],
    ids=["no tar", "no project", "leads out", "does not load", "no spiders"],
)
async def test_what_is_no_project_is_refused_and_makes_no_version(
    api: Api, acme: Tenant, archive: bytes, said: str
) -> None:
    await make_project(api, acme)
    refused = await upload(api, acme, archive)
    assert refused.status == 422, refused.json
    detail = refused.json["detail"]
    assert said in detail["message"]
    assert detail["errors"][0]["field"] == "archive"
    assert (await api.call("GET", LIST, acme.key)).json == {"deploys": []}


async def test_a_form_at_fault_names_its_field_and_a_large_one_is_not_read_to_its_end(
    api: Api, acme: Tenant, rival: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    await make_project(api, acme)
    archive = project_of("one")
    for given, fields, status, field in (
        (None, {}, 422, "archive"),
        (b"", {}, 422, "archive"),
        (archive, {"branch": "main"}, 422, "branch"),
        (archive, {"notes": "x" * 10_001}, 422, "notes"),
        (archive, {"notes": "x" * 70_000}, 413, "notes"),
        (archive, {"source": "a\nb"}, 422, "source"),
    ):
        refused = await upload(api, acme, given, **fields)
        assert (refused.status, refused.json["detail"]["errors"][0]["field"]) == (status, field)
    assert (await upload(api, acme, archive, project="nothing")).status == 404
    assert (await upload(api, rival, archive, org="acme")).status == 403
    monkeypatch.setattr(uploading, "MAX_ARCHIVE_BYTES", 100)
    large = await upload(api, acme, archive)
    assert (large.status, large.json["detail"]["errors"][0]["field"]) == (413, "archive")


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("application/json", {"project": "shop"}),
        ("multipart/form-data", b"--x--"),
        ("multipart/form-data; boundary=x", b"no form at all"),
        ("multipart/form-data; boundary=x", b'--x\r\nContent-Disposition: form-data; name="notes"\r\n\r\nand no end'),
    ],
)
async def test_what_is_no_form_is_refused(api: Api, acme: Tenant, kind: str, body: Any) -> None:
    await make_project(api, acme)
    refused = await api.call("POST", "/spider/deploys/upload", acme.key, body, headers={"Content-Type": kind})
    assert (refused.status, list(refused.json)) in ((400, ["detail"]), (422, ["detail"]))


async def test_deploys_from_git_are_switched_off_and_say_what_to_do(api: Api, acme: Tenant) -> None:
    await make_project(api, acme)
    path = "/spider/deploys/from-git"
    refused = await api.call("POST", path, acme.key, {"org": "acme", "project": "shop", "ref": "main"})
    assert (refused.status, "upload it" in refused.json["detail"]) == (501, True)
    assert (await api.call("POST", path, acme.key, {"project": "nothing"})).status == 404
