"""A stream that goes on after kill -9: two API processes, a real broker, decider and projection."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import aiohttp
import msgspec
import pytest

from projections.__main__ import main as project
from services.decider.__main__ import main as decide
from services.ledger.commands import ClaimTask, ReportProgress
from services.ledger.replies import Granted
from services.ledger.reports import Failed, NodeReport
from services.localstack.ports import port_for
from services.runtime.commander import Commander
from services.runtime.ids import uuid7
from services.runtime.settings import Settings
from tests.beside import beside
from tests.eventually import eventually
from tests.integration.api.conftest import OPERATOR, WORKFLOW
from tests.integration.projections.following import process
from tests.sse import streaming

READY_SECONDS = 120
NODE = NodeReport(step=0, node_id="fetch", node_kind="service", provider="direct", status_code=200, latency_ms=12)


class Worker:
    """Claims a job and reports on it, node by node."""

    def __init__(self, settings: Settings) -> None:
        self._commander = Commander(settings, "test")
        self._partition, self._whose = 0, {"org_id": "", "job_id": ""}

    async def start(self) -> None:
        """Begin to hear replies."""
        await self._commander.start()

    async def close(self) -> None:
        """Stop."""
        await self._commander.close()

    async def claim(self, partition: int, org_id: str, job_id: str) -> None:
        """Begin the job's first attempt."""
        self._partition, self._whose = (
            partition,
            {"org_id": org_id, "job_id": job_id, "worker_id": "w1", "boot_id": "b1"},
        )
        command = ClaimTask(command_id=uuid7(), dispatch=1, requester=self._commander.boot_id, **self._whose)
        assert isinstance((await self._commander.ask(partition, command)).body, Granted)

    async def report(self, step: int, outcome: Failed | None = None) -> None:
        """Report a finished node, and with an outcome the end of the attempt."""
        node = msgspec.structs.replace(NODE, step=step)
        report = ReportProgress(
            command_id=uuid7(),
            requester=self._commander.boot_id,
            attempt=1,
            nodes=(node,),
            outcome=outcome,
            org_id=self._whose["org_id"],
            job_id=self._whose["job_id"],
            worker_id="w1",
            boot_id="b1",
        )
        await self._commander.ask(self._partition, report)


@pytest.fixture
async def worker(decided: Settings) -> AsyncIterator[Worker]:
    """One worker."""
    worker = Worker(decided)
    await worker.start()
    yield worker
    await worker.close()


@pytest.fixture
async def decided(ledger: Settings) -> AsyncIterator[Settings]:
    """Settings of a ledger that is decided and projected."""
    settings = replace(ledger, operator_key=OPERATOR, host="127.0.0.1", port=0)
    async with beside(decide(settings)), beside(project(settings)):
        yield settings


async def _serves(session: aiohttp.ClientSession, url: str) -> bool:
    with contextlib.suppress(aiohttp.ClientError):
        async with session.get(f"{url}/ready") as answer:
            return answer.status == 200
    return False


async def test_resumed_on_another_process_after_kill_9_without_a_gap_or_a_repeat_and_done_means_readable(
    decided: Settings, worker: Worker, tmp_path: Path
) -> None:
    ports = [port_for(tmp_path / "ports.json", f"api-{number}") for number in range(2)]
    one, two = (f"http://127.0.0.1:{port}" for port in ports)
    async with aiohttp.ClientSession() as session:
        with process(decided, ports[0], "api") as first, process(decided, ports[1], "api"):
            for url in (one, two):
                await eventually(lambda url=url: _serves(session, url), READY_SECONDS)  # type: ignore[misc]
            key, partition = await _registered(session, one)
            headers = {"Authorization": f"Bearer {key}"}
            async with session.post(f"{two}/api/v1/jobs", json={"url": "https://a.example/"}, headers=headers) as made:
                job = f"/api/v1/jobs/{(await made.json())['jobId']}"
            async with streaming(session, f"{one}{job}/stream", key) as stream:
                snapshot = await stream.next()
                assert snapshot
                await worker.claim(partition, "acme", job.rpartition("/")[2])
                for step in range(3):
                    await worker.report(step)
                came = [await stream.until("event") for _ in range(3)]
                first.kill()
                await asyncio.to_thread(first.wait)
                came += await stream.rest()
            for step in range(3, 6):
                await worker.report(step)
            async with streaming(session, f"{two}{job}/stream", key, stream.last_id) as again:
                came.append(await again.until("event"))
                await worker.report(6, Failed(error_type="internal"))
                end = await again.until("done")
                async with session.get(f"{two}{job}", headers=headers) as answer:
                    assert (await answer.json())["status"] == end.data["status"] == "failed"
                came += again.messages[1:]
            async with session.get(f"{two}{job}/events", headers=headers) as answer:
                recorded = (await answer.json())["events"]
        with process(decided, ports[1], "api") as third:
            await eventually(lambda: _serves(session, two), READY_SECONDS)
            async with session.post(f"{two}/api/v1/jobs", json={"url": "https://a.example/2"}, headers=headers) as made:
                job = f"/api/v1/jobs/{(await made.json())['jobId']}"
            async with streaming(session, f"{two}{job}/stream", key) as last:
                await last.next()
                third.terminate()
                assert (await last.until("close")).data == {"reason": "shutdown", "reconnect": True}
                assert await last.next() is None
            assert await asyncio.to_thread(third.wait, 30) == 0
    places = [f"{event['partition']}:{event['position']}" for event in recorded]
    assert [message.id for message in came] == places[places.index(snapshot.id) + 1 :]
    assert [message.data["type"] for message in came] == ["JobClaimed", *["NodeFinished"] * 7, "JobFailed"]


async def _registered(session: aiohttp.ClientSession, url: str) -> tuple[str, int]:
    operator = {"Authorization": f"Bearer {OPERATOR}"}
    body = {"orgId": "acme", "name": "Acme"}
    async with session.post(f"{url}/api/v1/orgs", json=body, headers=operator) as answer:
        made = await answer.json()
    key = made["key"]["secret"]
    saved = {"workflowId": "products", "document": WORKFLOW, "publish": True}
    async with session.post(
        f"{url}/api/v1/workflows", json=saved, headers={"Authorization": f"Bearer {key}"}
    ) as answer:
        assert answer.status == 201
    return key, made["partition"]
