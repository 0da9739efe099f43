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
# Not everything that is refused can be said in a schema (either url or urls; a position of the org's own partition):
# that such input is refused, and how, stands in docs/errors.md, each row of which is tested.
RULES_BEYOND = "positive_data_acceptance"
# What breaks a bound by its sheer size is refused as such, before it is read: 413 joins the refusals there are already.
REFUSED = ["400", "401", "403", "404", "405", "406", "409", "413", "415", "422", "428", "429", "5xx"]
CONFIG = f"[checks.negative_data_rejection]\nexpected-statuses = {REFUSED}\n"
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
        made = await operator.post("/api/v1/orgs", json={"orgId": "acme", "name": "Acme"})
        key = (await made.json())["key"]["secret"]
        own = {"Authorization": f"Bearer {key}"}
        body = {"workflowId": "products", "document": WORKFLOW, "publish": True}
        assert (await operator.post("/api/v1/workflows", json=body, headers=own)).status == 201
    assert not await problems(tmp_path, described, key, "--exclude-path-regex", "|".join([*LEFT_OUT, "^/api/v1/orgs"]))
    assert not await problems(tmp_path, described, OPERATOR, "--include-path-regex", "^/api/v1/orgs")


async def problems(place: Path, url: str, key: str, *which: str) -> str:
    """Let schemathesis call the API with a key; return what it says where something is not as described."""
    config = place / "schemathesis.toml"
    config.write_text(CONFIG)
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "schemathesis.cli", "--config-file", str(config), "run", f"{url}/api/v1/openapi.json", *which),
        *("--header", f"Authorization: Bearer {key}", "--checks", "all", "--mode", "all"),
        *("--phases", "examples,coverage,fuzzing", "--max-examples", str(EXAMPLES), "--seed", str(SEED)),
        *("--generation-deterministic", "--continue-on-failure", "--no-color"),
        *("--exclude-checks", RULES_BEYOND),
        *("--request-timeout", "30", "--warnings", "off", "--no-shrink"),
        cwd=place,  # it keeps notes where it runs
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    async with asyncio.timeout(SECONDS):
        said, _ = await process.communicate()
    return said.decode() if process.returncode else ""
