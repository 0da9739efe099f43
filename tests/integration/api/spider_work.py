"""Projects of spiders for tests of the API: made by call, and jobs as the ledger gets them."""

from typing import Any

from schemas.private import private_bytes
from schemas.values import Vocabulary
from services.ledger.commands import NewJob, SubmitJobs
from services.runtime.ids import uuid7
from tests.integration.api.conftest import Api, Tenant
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
