"""One job gives one connected trace, told over OTLP by every process that had to do with it."""

import asyncio
import json
import urllib.request

import pytest

from services.cli.kept_keys import kept_key
from tests.eventually import eventually
from tests.integration.visible.standing import JOB_SECONDS, PLAIN, Standing
from tests.otlp_receiver import Receiver, assert_connected

pytestmark = pytest.mark.stack
CALLER = "0af7651916cd43dd8448eb211c80319c"
TELLERS = {
    "submit": "api",
    "job": "decider",
    "decide": "decider",
    "attempt": "workers",
    "claim": "workers",
    "node": "workers",
    "deliver": "writers",
    "project": "projections",
}


def submitted(standing: Standing, url: str) -> str:
    """Submit a job as a caller who traces."""
    api = standing.state().process("api")
    assert api
    request = urllib.request.Request(
        f"{api.endpoint}/api/v1/jobs",
        json.dumps({"url": url, "workflowId": PLAIN}).encode(),
        {
            "Authorization": f"Bearer {kept_key(standing.directory).key}",
            "Content-Type": "application/json",
            "traceparent": f"00-{CALLER}-b7ad6b7169203331-01",
        },
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        return str(json.load(answer)["jobId"])


async def test_a_job_is_one_connected_trace_over_all_processes(standing: Standing, receiver: Receiver) -> None:
    await standing.until_ready()
    url = f"{standing.pages}/product/7?visible=secret-of-a-url"
    job_id = await asyncio.to_thread(submitted, standing, url)
    await standing.completed(job_id)

    def whole() -> bool:
        found = receiver.of(job_id)
        names = {span.name for span in found}
        folded = sum(int(span.attributes["jobledger.events"]) for span in found if span.name == "project")
        decided = sum(len(span.attributes["jobledger.events"].split(",")) for span in found if span.name == "decide")
        return names >= set(TELLERS) and folded == decided

    await eventually(whole, JOB_SECONDS)
    spans = receiver.of(job_id)
    assert_connected(spans)
    assert {(span.name, span.service) for span in spans} == set(TELLERS.items())
    assert [span.links for span in spans if span.name == "submit"] == [(CALLER,)]
    [root] = [span for span in spans if span.name == "job"]
    assert root.attributes["jobledger.status"] == "completed"
    kinds = {span.attributes["jobledger.node_kind"] for span in spans if span.name == "node"}
    assert "service" in kinds
    key = kept_key(standing.directory).key.encode()
    for body in receiver.bodies:
        assert b"secret-of-a-url" not in body
        assert b"://" not in body
        assert key not in body
