"""The API does as its description says: schemathesis makes calls from it, good and bad ones, and checks the answers.

A real ledger with decider and projection answers. Left out: streams (an answer never ends while its job lives; their
scenarios test them), and tests of a webhook (each waits for an endpoint of somebody else).
"""

import asyncio
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import aiohttp
import pytest

from api.compose import serving
from projections.__main__ import main as project
from services.decider.__main__ import main as decide
from services.runtime.sealing import new_key
from services.runtime.settings import Settings
from tests.beside import beside
from tests.integration.api.conftest import OPERATOR, WORKFLOW

SEED = 82
EXAMPLES = 6  # of each call by each generator, beside those that cover each constraint
SECONDS = 400
# What these take no schema can say: whether a host is public, a workflow published, a document one that can run, a cron
# expression due, a plan one of the operator's, a setting one of that kind of destination, a cursor one of ours, a page
# or a balance within bounds. How they refuse it stands in docs/errors.md, each row of which is tested.
BEYOND_OF_KEYS = (
    "POST /api/jobs",
    "POST /api/jobs/{job_id}",
    "POST /api/v1/jobs",
    "GET /api/v1/jobs",
    "GET /api/v1/jobs/{job_id}",
    "GET /api/v1/extractions",
    "POST /api/v1/workflows",
    "PUT /api/v1/workflows/{workflow_id}",
    "GET /api/v1/schedules",
    "POST /api/v1/schedules",
    "PUT /api/v1/schedules/{schedule_id}",
    "GET /api/v1/schedules/{schedule_id}/fires",
    "GET /api/v1/plans/transactions",
    "POST /api/v1/destinations",
    "PATCH /api/v1/destinations/{destination_id}",
    "POST /api/v1/destinations/{destination_id}/test",
    "POST /api/v1/webhooks",
    "PATCH /api/v1/webhooks/{webhook_id}",
    "PUT /spider/projects/{org}/{project}/settings",
    "GET /spider/jobs",
    "POST /spider/deploys/upload",
    "POST /spider/destinations",
    "POST /spider/schedules",
)
BEYOND_OF_OPERATOR = ("POST /api/v1/orgs", "PUT /api/v1/orgs/{org_id}/plan", "POST /api/v1/orgs/{org_id}/credits")
LENIENT = ("--exclude-checks", "positive_data_acceptance")
# What breaks a bound by its sheer size is refused as such, before it is read: 413 joins the refusals there are already.
REFUSED = ["400", "401", "403", "404", "405", "406", "409", "413", "415", "422", "428", "429", "5xx"]
# What is good by itself may still meet a version that is another by now (412), or something that is not there.
TAKEN = ["2xx", "3xx", "401", "403", "404", "409", "412", "429", "5xx"]
CONFIG = f"""
[checks.negative_data_rejection]
expected-statuses = {REFUSED}
[checks.positive_data_acceptance]
expected-statuses = {TAKEN}
"""
LEFT_OUT = ("/stream$", "/webhooks/{webhook_id}/test$")


@pytest.fixture
async def described(ledger: Settings) -> AsyncIterator[str]:
    """The URL of an API on a ledger that decides and projects."""
    settings = replace(
        ledger,
        operator_key=OPERATOR,
        credentials_key=new_key(),
        clickhouse="http://127.0.0.1:9/jobledger",
        calls_per_second=0,
        failed_calls_per_second=0,
        host="127.0.0.1",
        port=0,
    )
    async with beside(decide(settings)), beside(project(settings)), serving(settings) as running:
        yield f"http://127.0.0.1:{running.port}"


async def test_every_call_answers_as_it_is_described(described: str, tmp_path: Path) -> None:
    async with aiohttp.ClientSession(described, headers={"Authorization": f"Bearer {OPERATOR}"}) as operator:
        made = await (await operator.post("/api/v1/orgs", json={"orgId": "acme", "name": "Acme"})).json()
        key, place = made["key"]["secret"], f'"{made["partition"]}:0"'
        own = {"Authorization": f"Bearer {key}"}
        body = {"workflowId": "products", "document": WORKFLOW, "publish": True}
        assert (await operator.post("/api/v1/workflows", json=body, headers=own)).status == 201
    # Only positions of the org's own partition are good ones.
    good = f'[parameters]\n"query.min_position" = {place}\n"header.Min-Position" = {place}\n'
    others, orgs = (
        ("--exclude-path-regex", "|".join([*LEFT_OUT, "^/api/v1/orgs"])),
        ("--include-path-regex", "^/api/v1/orgs"),
    )
    taken, beyond = named("--exclude-name", BEYOND_OF_KEYS), named("--include-name", BEYOND_OF_KEYS)
    assert not await problems(tmp_path, described, key, "--mode", "positive", *others, *taken, more=good)
    assert not await problems(tmp_path, described, key, "--mode", "positive", *beyond, *LENIENT, more=good)
    assert not await problems(tmp_path, described, key, "--mode", "negative", *others)
    taken, beyond = named("--exclude-name", BEYOND_OF_OPERATOR), named("--include-name", BEYOND_OF_OPERATOR)
    assert not await problems(tmp_path, described, OPERATOR, "--mode", "all", *orgs, *taken)
    assert not await problems(tmp_path, described, OPERATOR, "--mode", "all", *beyond, *LENIENT)


def named(option: str, names: tuple[str, ...]) -> list[str]:
    """Return the arguments that choose calls by their names."""
    return [word for name in names for word in (option, name)]


async def problems(place: Path, url: str, key: str, *which: str, more: str = "") -> str:
    """Let schemathesis call the API with a key; return what it says where something is not as described."""
    config = place / "schemathesis.toml"
    config.write_text(f"{CONFIG}{more}")
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "schemathesis.cli", "--config-file", str(config), "run", f"{url}/api/v1/openapi.json", *which),
        *("--header", f"Authorization: Bearer {key}", "--checks", "all"),
        *("--phases", "examples,coverage,fuzzing", "--max-examples", str(EXAMPLES), "--seed", str(SEED)),
        *("--generation-deterministic", "--continue-on-failure", "--no-color"),
        *("--request-timeout", "30", "--warnings", "off", "--no-shrink"),
        cwd=place,  # it keeps notes where it runs
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    async with asyncio.timeout(SECONDS):
        said, _ = await process.communicate()
    return said.decode() if process.returncode else ""
