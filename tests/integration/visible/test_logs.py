"""Every line that a process of the stack logs is a JSON object, with the ids of what it is about."""

import asyncio
import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from services.cli.access import access
from services.localstack.services import SERVICES, WAREHOUSE_WRITERS
from services.runtime.ids import uuid7
from tests.eventually import eventually
from tests.integration.visible.standing import PLAIN, Standing

pytestmark = pytest.mark.stack
SERVICES_HERE = (*SERVICES, WAREHOUSE_WRITERS["customer_postgres"])
# The others are Java and C.
OURS = (*(service.name for service in SERVICES_HERE), "registry", "clickhouse", "supervisor")
ALWAYS = {"time", "level", "service", "logger", "message"}
LEVELS = {"debug", "info", "warning", "error", "critical"}


def lines_of(standing: Standing, process: str) -> list[dict[str, Any]]:
    """Return what a process logged; fail at a line that is no JSON object."""
    found = []
    for number, text in enumerate(standing.directory.log(process).read_text().splitlines(), 1):
        try:
            line = json.loads(text)
        except ValueError:
            raise AssertionError(f"{process}, line {number} is no JSON: {text[:300]}") from None
        assert isinstance(line, dict), text
        found.append(line)
    return found


def submit(standing: Standing, key: str, number: int) -> tuple[int, str]:
    """Submit a page under an idempotency key for the demo's org; return status and request id."""
    found = access({"JOBLEDGER_STACK_DIR": str(standing.directory.root)})
    request_id = uuid7()
    headers = {
        "Authorization": f"Bearer {found.key}",
        "Content-Type": "application/json",
        "X-Request-Id": request_id,
        "Idempotency-Key": key,
    }
    body = json.dumps({"url": f"{standing.pages}/product/{number}", "workflowId": PLAIN}).encode()
    try:
        request = urllib.request.Request(f"{found.base_url}/api/v1/jobs", body, headers, method="POST")
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, request_id
    except urllib.error.HTTPError as error:
        error.close()
        return error.code, request_id


def about(lines: list[dict[str, Any]], **ids: object) -> list[dict[str, Any]]:
    """Return the lines that carry these ids."""
    return [line for line in lines if ids.items() <= line.items()]


@pytest.mark.parametrize("process", OURS)
def test_every_line_is_a_json_object_with_time_level_and_who_says_it(standing: Standing, process: str) -> None:
    for line in lines_of(standing, process):
        assert line.keys() >= ALWAYS, line
        assert line["level"] in LEVELS
        assert line["time"].endswith("+00:00")


async def test_a_job_can_be_followed_by_its_id_from_the_api_to_its_worker(standing: Standing) -> None:
    job_id = await asyncio.to_thread(standing.submit)
    await standing.completed(job_id)
    submitted = about(lines_of(standing, "api"), job_id=job_id, status=201)
    assert len(submitted) == 1
    assert submitted[0]["org_id"]
    assert submitted[0]["request_id"]

    def ended() -> list[dict[str, Any]]:
        return about(lines_of(standing, "workers"), job_id=job_id, message="attempt ended")

    await eventually(ended)
    [line] = ended()
    assert (line["outcome"], line["attempt"], line["org_id"]) == ("Extracted", 1, submitted[0]["org_id"])
    assert isinstance(line["partition"], int)


async def test_a_refused_request_is_found_in_the_deciders_log_by_its_id(standing: Standing) -> None:
    key = uuid7()
    made, of_the_first = await asyncio.to_thread(submit, standing, key, 1)
    refused, request_id = await asyncio.to_thread(submit, standing, key, 2)
    assert (made, refused) == (201, 409)
    [answered] = about(lines_of(standing, "api"), request_id=request_id)
    assert answered["status"] == 409
    await eventually(lambda: about(lines_of(standing, "decider"), request_id=request_id))
    [line] = about(lines_of(standing, "decider"), request_id=request_id)
    assert (line["message"], line["code"]) == ("command refused", "idempotency_conflict")
    assert line["org_id"] == answered["org_id"]
    assert {"partition", "position", "offset"} <= line.keys()
    assert not about(lines_of(standing, "decider"), request_id=of_the_first)


def test_no_key_and_no_password_is_in_any_log(standing: Standing) -> None:
    found = access({"JOBLEDGER_STACK_DIR": str(standing.directory.root)})
    password = standing.state().environ["JOBLEDGER_POSTGRES"].split("@")[0].rpartition(":")[2]
    for file in Path(standing.directory.logs).glob("*.log*"):
        text = file.read_text(errors="replace")
        assert found.key not in text, file.name
        assert password not in text, file.name
