"""Instances of the API beside a plant, as processes, and who calls them."""

import json
from dataclasses import dataclass
from typing import Any

import aiohttp

from tests.eventually import eventually
from tests.integration.workers.plant import ORG, Plant
from tests.unit.workers.fakes import service, workflow

OPERATOR = "operator-key-of-the-tests"


@dataclass
class Caller:
    """Calls API instances with one key."""

    session: aiohttp.ClientSession
    key: str = OPERATOR

    async def call(self, base: str, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Return status and JSON of an answer; None where it is none."""
        headers = {"Authorization": f"Bearer {self.key}"}
        async with self.session.request(method, base + path, headers=headers, json=body) as answer:
            data = await answer.read()
            return answer.status, json.loads(data) if answer.content_type == "application/json" else None


async def instance(plant: Plant, port: int, session: aiohttp.ClientSession) -> str:
    """Start an instance of the API and return its base URL once it is ready."""
    plant.start("api", JOBLEDGER_PORT=str(port), JOBLEDGER_OPERATOR_KEY=OPERATOR)
    base = f"http://127.0.0.1:{port}"

    async def ready() -> bool:
        try:
            async with session.get(f"{base}/ready") as answer:
                return answer.status == 200
        except aiohttp.ClientConnectionError:
            return False

    await eventually(ready, 60)
    return base


async def prepared(caller: Caller, api: str) -> None:
    """Register the org and publish its workflow; from then on the caller has a key of the org."""
    org = {"orgId": ORG, "name": "Acme", "maxInFlight": 64}
    status, made = await caller.call(api, "POST", "/api/v1/orgs", org)
    assert status == 201, made
    caller.key = made["key"]["secret"]
    document = {"workflowId": "w1", "publish": True, "document": json.loads(workflow(service("a")))}
    assert (await caller.call(api, "POST", "/api/v1/workflows", document))[0] == 201
