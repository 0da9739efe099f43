"""Projects of spiders for tests of the API: made by call, and jobs as the ledger gets them."""

import gzip
import io
import tarfile
from typing import Any

import aiohttp

from schemas.private import private_bytes
from schemas.values import Vocabulary
from services.ledger.commands import NewJob, SubmitJobs
from services.runtime.ids import uuid7
from tests.integration.api.conftest import Answered, Api, Tenant
from tests.integration.api.pocket import PocketLedger


async def make_project(api: Api, tenant: Tenant, slug: str = "shop", **more: Any) -> dict[str, Any]:
    """Make a project."""
    made = await api.call("POST", "/spider/projects", tenant.key, {"org": tenant.org_id, "slug": slug, **more})
    assert made.status == 201, made.json
    return dict(made.json)


def submit_spider(pocket: PocketLedger, tenant: Tenant, project: str = "shop") -> str:
    """Submit a job of a project to the ledger, and return its id."""
    job_id = uuid7()
    options = {"project": project, "spiders": ["one"], "deploy_version": 1}
    command = SubmitJobs(
        command_id=uuid7(),
        org_id=tenant.org_id,
        requester=pocket.boot_id,
        jobs=(NewJob(job_id=job_id, private=private_bytes({"input": options})),),
        vocabulary=Vocabulary.SPIDER,
        workflow_id=project,
    )
    pocket.decide(tenant.partition, command)
    return job_id


def packed(files: dict[str, str]) -> bytes:
    """Pack files as a tar.gz, the same bytes for the same files."""
    data = io.BytesIO()
    with gzip.GzipFile(fileobj=data, mode="wb", mtime=0) as plain, tarfile.open(fileobj=plain, mode="w") as tar:
        for name, text in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(text.encode())
            tar.addfile(entry, io.BytesIO(text.encode()))
    return data.getvalue()


def project_of(*spiders: str, more: str = "") -> bytes:
    """Return the archive of a Scrapy project with these spiders."""
    classes = "\n".join(
        f"class Spider{number}(scrapy.Spider):\n    name = {name!r}\n" for number, name in enumerate(spiders)
    )
    return packed(
        {
            "shop/scrapy.cfg": "[settings]\ndefault = shop.settings\n",
            "shop/shop/__init__.py": "",
            "shop/shop/settings.py": "SPIDER_MODULES = ['shop.spiders']\n",
            "shop/shop/spiders/__init__.py": "",
            "shop/shop/spiders/all.py": f"import scrapy\n{more}\n{classes}",
        }
    )


async def upload(api: Api, tenant: Tenant, archive: bytes | None, **fields: str) -> Answered:
    """Upload an archive to a project of a tenant; the file goes first, as some clients have it."""
    form = aiohttp.FormData(default_to_multipart=True)
    if archive is not None:
        form.add_field("archive", archive, filename="project.tar.gz", content_type="application/gzip")
    for name, text in {"org": tenant.org_id, "project": "shop", "source": "test", **fields}.items():
        form.add_field(name, text)
    headers = {"Authorization": f"Bearer {tenant.key}"}
    async with api.session.post(f"{api.url}/spider/deploys/upload", data=form, headers=headers) as answer:
        return Answered(answer.status, answer.headers, await answer.read(), await answer.json())


LAKE = {"host": "db.acme.example", "database": "lake", "table": "items", "user": "writer", "password": "s3cr3t-of-lake"}


async def make_destination(api: Api, tenant: Tenant, project: str = "shop", **more: Any) -> dict[str, Any]:
    """Let the items of a project go to a Postgres of the tenant's own."""
    body = {"project": project, "name": "lake", "kind": "customer_postgres", "settings": LAKE, **more}
    made = await api.call("POST", "/spider/destinations", tenant.key, body)
    assert made.status == 201, made.json
    return dict(made.json)


async def make_schedule(api: Api, tenant: Tenant, **more: Any) -> dict[str, Any]:
    """Make a schedule of every day of the spider `one`."""
    body = {"project": "shop", "name": "daily", "cron": "0 6 * * *", "spiders": ["one"], **more}
    made = await api.call("POST", "/spider/schedules", tenant.key, body)
    assert made.status == 201, made.json
    return dict(made.json)
