"""The orgs of a demo run: registered by the operator, each with its workflows published and its key kept."""

import secrets
from collections.abc import Iterable

import msgspec

from services.cli.client import Client
from services.cli.demo_workflows import WorkflowName, demo_workflows
from services.cli.kept_keys import OrgKey

ORG_NAMES = {"acme": "Acme Prices", "birch": "Birch Reading Room", "corvid": "Corvid Insight"}


def org_ids(names: Iterable[str]) -> list[str]:
    """Return an id for each name that no earlier run has used."""
    run = secrets.token_hex(3)
    return [f"demo-{name}-{run}" for name in names]


async def register(operator: Client, org_id: str) -> OrgKey:
    """Register an org, publish the workflows of the demo for it, and return its key."""
    name = ORG_NAMES.get(org_id.split("-")[1], org_id)
    registered = await operator.register_org(org_id, name)
    org = OrgKey(org_id, registered.key.secret)
    async with Client(operator.base_url, org.key) as client:
        for workflow_id, document in demo_workflows().items():
            await client.save_workflow(workflow_id, msgspec.to_builtins(document))
    return org


def workflow_ids() -> list[WorkflowName]:
    """Return the ids under which the workflows are published, the plain one first."""
    return list(demo_workflows())
