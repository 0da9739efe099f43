"""Who is told by a notice that a job ended can read all of it in that instant, from any instance of the API."""

import asyncio
import os
import threading
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web
from standardwebhooks.webhooks import Webhook

from projections.postgres.sink import READER, postgres_runner
from projections.verify import verify
from services.localstack.ports import port_for
from services.runtime.health import Progress
from services.runtime.ledger_log import Checkpoint, Entry, LedgerLog
from services.runtime.registry import decoder
from services.runtime.settings import Settings
from services.runtime.shredding.vault import Vault
from tests.acceptance.instances import Caller, instance, prepared
from tests.eventually import eventually
from tests.integration.workers.plant import Plant, delivering
from tests.receiver import Got, Receiver, receiving

NOTICES = int(os.environ.get("JOBLEDGER_TEST_NOTICES", "1000"))
FAILING = 5  # jobs beside them that fail
SLOW_SECONDS = 0.5  # that every batch of the projector takes longer
DEADLINE_SECONDS = 600.0


class SlowLog:
    """The log of events, as a projector sees it that takes half a second longer for every batch."""

    def __init__(self, log: LedgerLog) -> None:
        self._log = log
        self.close = log.close

    def poll(self, max_events: int, timeout_seconds: float) -> list[Entry]:
        """Return the next events, late."""
        entries = self._log.poll(max_events, timeout_seconds)
        if entries:
            threading.Event().wait(SLOW_SECONDS)
        return entries


@asynccontextmanager
async def slow_projector(settings: Settings) -> AsyncIterator[None]:
    """Project into Postgres, slowly."""

    def open_log(starts: Mapping[int, Checkpoint]) -> SlowLog:
        return SlowLog(LedgerLog(settings, decoder(settings), starts))

    runner = postgres_runner(settings.postgres, range(settings.partitions), open_log, Vault(""), Progress(READER))
    running = asyncio.create_task(asyncio.to_thread(runner.run))
    try:
        yield
    finally:
        runner.stop()
        await running


@dataclass
class Customer:
    """Calls back from inside its handler, and keeps what it was answered."""

    caller: Caller
    api: str  # the instance it calls back
    secret: str
    deliveries: str  # path of the deliveries of its endpoint
    told: Counter[str] = field(default_factory=Counter)  # notices by job
    seen: Counter[tuple[str, int]] = field(default_factory=Counter)  # what was asked for, status

    async def handle(self, got: Got) -> web.Response:
        """Verify a message; at a notice read everything about its job."""
        message = Webhook(self.secret).verify(got.body, dict(got.headers))
        if message["type"] == "job.extracted":
            return web.Response()
        links = {name: path for name, path in message["data"]["links"].items() if path}
        for name, path in (*links.items(), ("deliveries", self.deliveries)):
            status, body = await self.caller.call(self.api, "GET", path)
            self.seen[name, status] += 1
            if name == "job":
                self.seen[f"{message['type']}: {body['status']} after {body['gate']['acked']} acks", status] += 1
        self.told[message["data"]["jobId"]] += 1
        return web.Response()


@pytest.fixture
async def plant(settings: Settings, tmp_path: Path) -> AsyncIterator[Plant]:
    """A plant with its decider, workers and both writers."""
    async with delivering(settings, tmp_path, "postgres", "webhook") as plant:
        yield plant


async def customer(caller: Caller, api: str, other: str, receiver: Receiver) -> Customer:
    """Make an endpoint whose handler calls the other instance."""
    status, hook = await caller.call(api, "POST", "/api/v1/webhooks", {"url": f"{receiver.url}/hook"})
    assert status == 201, hook
    deliveries = f"/api/v1/webhooks/{hook['webhookId']}/deliveries?limit=5"
    customer = Customer(caller, other, hook["secret"], deliveries)
    receiver.answers["/hook"] = customer.handle
    return customer


async def test_59_every_notice_finds_job_result_row_and_deliveries_readable(plant: Plant, tmp_path: Path) -> None:
    async with aiohttp.ClientSession() as session, slow_projector(plant.settings), receiving() as receiver:
        ports = [port_for(tmp_path / "ports.json", name) for name in ("first", "second")]
        first, second = [await instance(plant, port, session) for port in ports]
        caller = Caller(session)
        await prepared(caller, first)
        told = await customer(caller, first, second, receiver)
        urls = [f"{plant.site.url}/p/{number}" for number in range(NOTICES)]
        urls += [
            f"http://127.0.0.1:{port_for(tmp_path / 'ports.json', 'nobody')}/{number}" for number in range(FAILING)
        ]
        status, made = await caller.call(first, "POST", "/api/v1/jobs", {"urls": urls})
        assert status == 201, made
        await eventually(lambda: len(told.told) == NOTICES + FAILING, DEADLINE_SECONDS)
        faults = (await asyncio.to_thread(verify, plant.settings)).faults
    assert set(told.told) == {job["jobId"] for job in made["jobs"]}
    assert faults == []
    completed = told.seen["job.completed: completed after 2 acks", 200]
    failed = told.seen["job.failed: failed after 0 acks", 200]
    assert completed >= NOTICES
    assert failed >= FAILING
    assert told.seen == {
        ("job", 200): completed + failed,
        ("result", 200): completed,
        ("extraction", 200): completed,
        ("deliveries", 200): completed + failed,
        ("job.completed: completed after 2 acks", 200): completed,
        ("job.failed: failed after 0 acks", 200): failed,
    }
