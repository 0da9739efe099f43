"""The orgs of the demo get the destinations that this ledger has, and say which one they do without."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from api import webhook_answers
from services.cli.client import Client
from services.cli.demo_orgs import ORGS, disable_webhook, register
from services.runtime.networks import LOCAL
from services.runtime.sealing import new_key
from services.runtime.settings import Settings
from tests.integration.api.conftest import OPERATOR, Api

HOOK = "http://127.0.0.1:9/hook"


@pytest.fixture(params=["http://127.0.0.1:9/jobledger", ""], ids=["with ClickHouse", "without ClickHouse"])
def with_operator(settings: Settings, request: pytest.FixtureRequest) -> Settings:
    """The settings of an API that lets webhooks lead to this machine."""
    settings = replace(settings, operator_key=OPERATOR, credentials_key=new_key(), clickhouse=request.param)
    return replace(settings, allowed_networks=LOCAL)


@pytest.fixture
async def operator(api: Api) -> AsyncIterator[Client]:
    """Whoever may register orgs."""
    async with Client(api.url, OPERATOR) as client:
        yield client


async def test_each_org_gets_the_destinations_that_there_are(operator: Client, with_operator: Settings) -> None:
    acme, birch, corvid = [await register(operator, "a1b2c3", org, HOOK) for org in ORGS]
    assert [org.org_id for org in (acme, birch, corvid)] == [
        "demo-acme-a1b2c3",
        "demo-birch-a1b2c3",
        "demo-corvid-a1b2c3",
    ]
    stores = {"internal-postgres", "clickhouse"} if with_operator.clickhouse else {"internal-postgres"}
    assert acme.destinations == ("internal-postgres",)
    assert set(birch.destinations) == stores
    assert set(corvid.destinations) == stores | {corvid.webhook_id}
    assert corvid.webhook_id
    assert acme.without == ""
    for org in (birch, corvid):
        assert ("set JOBLEDGER_CLICKHOUSE" in org.without) is not bool(with_operator.clickhouse)


async def test_after_the_demo_no_job_waits_for_its_webhook(operator: Client) -> None:
    corvid = await register(operator, "a1b2c3", ORGS[2], HOOK)
    async with Client(operator.base_url, corvid.key.key) as client:
        await disable_webhook(client, corvid.webhook_id)
        [hook] = (await client.call("GET", "/api/v1/webhooks", webhook_answers.Webhooks)).webhooks
    assert (hook.url, hook.enabled, hook.event_types) == (HOOK, False, [])
