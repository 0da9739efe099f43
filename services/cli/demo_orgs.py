"""The orgs of a demo run: registered by the operator, each with its destinations, its workflows and a kept key."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from api import config_answers, webhook_answers
from services.cli.client import Client
from services.cli.demo_kinds import WorkflowName
from services.cli.demo_workflows import demo_workflows
from services.cli.errors import ApiRefused
from services.cli.kept_keys import OrgKey
from services.cli.paths import path_of


@dataclass(frozen=True, slots=True)
class DemoOrg:
    """One org of the demo, and where its extractions go beside Postgres."""

    name: str
    title: str
    clickhouse: bool = False
    webhook: bool = False  # the endpoint that is down for a while


@dataclass(frozen=True, slots=True)
class Registered:
    """A registered org; `without` says why a destination is missing, empty: none is."""

    key: OrgKey
    destinations: tuple[str, ...]
    webhook_id: str = ""
    without: str = ""

    @property
    def org_id(self) -> str:
        """Return the id under which the org was registered."""
        return self.key.org_id


ORGS = (
    DemoOrg("acme", "Acme Prices"),
    DemoOrg("birch", "Birch Reading Room", clickhouse=True),
    DemoOrg("corvid", "Corvid Insight", clickhouse=True, webhook=True),
)


def new_run() -> str:
    """Return a name for a run that no earlier one has used."""
    return secrets.token_hex(3)


async def register(operator: Client, run: str, org: DemoOrg, webhook_url: str = "") -> Registered:
    """Register an org, add its destinations and publish the workflows of the demo for it."""
    plan = "bi" if org.clickhouse else "standard"
    made = await operator.register_org(f"demo-{org.name}-{run}", org.title, plan=plan)
    key = OrgKey(made.org_id, made.key.secret)
    async with Client(operator.base_url, key.key) as client:
        for workflow_id, document in demo_workflows().items():
            await client.save_workflow(workflow_id, msgspec.to_builtins(document))
        without = await _add_clickhouse(client) if org.clickhouse else ""
        webhook_id = await _add_webhook(client, webhook_url) if org.webhook and webhook_url else ""
        stores = await client.call("GET", "/api/v1/destinations", config_answers.Destinations)
    names = [store.destination_id for store in stores.destinations]
    return Registered(key, tuple(filter(None, (*names, webhook_id))), webhook_id, without)


def workflow_ids() -> Sequence[WorkflowName]:
    """Return the ids under which the workflows are published, the plain one first."""
    return list(demo_workflows())


async def _add_clickhouse(client: Client) -> str:
    """Add the destination; where this ledger has no ClickHouse, return what the API says to that."""
    try:
        await client.call(
            "POST", "/api/v1/destinations", config_answers.ConfiguredDestination, {"kind": "clickhouse", "gating": True}
        )
    except ApiRefused as refused:
        if refused.code != "invalid_field":
            raise
        return str(refused)
    return ""


async def disable_webhook(client: Client, webhook_id: str) -> None:
    """Keep jobs that are submitted after the demo from waiting for an endpoint that has gone with it."""
    path = path_of("webhooks", webhook_id)
    await client.call("PATCH", path, webhook_answers.Webhook, {"enabled": False})


async def _add_webhook(client: Client, url: str) -> str:
    body = {"url": url, "eventTypes": [], "gating": True}
    made = await client.call("POST", "/api/v1/webhooks", webhook_answers.NewWebhook, body)
    return made.webhook_id
