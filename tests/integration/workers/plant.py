"""Decider, workers and writer as processes, a site to fetch from, and an eye on the log of events."""

import asyncio
import dataclasses
import itertools
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import web

from schemas.events import AnyEvent
from schemas.recorded import Recorded
from schemas.values import Destination
from services.ledger.commands import (
    AnnounceWorker,
    CancelJob,
    ChangeOrgLimit,
    DeleteJob,
    NewJob,
    RegisterOrg,
    SubmitJobs,
)
from services.ledger.replies import Done
from services.runtime.admin import ensure_topics
from services.runtime.blob import BlobStore
from services.runtime.commander import Commander
from services.runtime.ids import uuid7
from services.runtime.ledger_log import Checkpoint, LedgerLog
from services.runtime.networks import LOCAL
from services.runtime.registry import decoder, register_schemas
from services.runtime.sealing import new_key
from services.runtime.settings import Settings
from services.runtime.shredding.store import JobKeys
from services.runtime.topics import partition_of_org
from tests.environ import environ_of
from tests.eventually import eventually
from tests.polling import polled
from tests.unit.workers.fakes import GOOD, service, workflow

ORG = "acme"
WORKFLOW_REF = "workflows/w1"
ROOT = Path(__file__).parents[3]


class Site:
    """Serves a good page at once; behind /slow when `gate` opens; behind /later/7 first a 429 with Retry-After: 7;
    none behind /gone."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.dropped: Counter[str] = Counter()  # calls that the client gave up
        self.gate = asyncio.Event()
        self.url = ""

    async def start(self) -> None:
        """Listen on loopback."""
        app = web.Application()
        app.router.add_get("/{path:.*}", self._page)
        self._runner = web.AppRunner(app, access_log=None, handler_cancellation=True)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"

    async def close(self) -> None:
        """Stop listening."""
        self.gate.set()
        await self._runner.cleanup()

    async def _page(self, request: web.Request) -> web.Response:
        self.calls[request.path] += 1
        if request.path.startswith("/later/") and self.calls[request.path] == 1:
            return web.Response(status=429, headers={"Retry-After": request.path.split("/")[2]})
        if request.path.startswith("/gone/"):
            return web.Response(status=404, text="gone")
        try:
            if request.path.startswith("/slow"):
                await self.gate.wait()
        except asyncio.CancelledError:
            self.dropped[request.path] += 1
            raise
        return web.Response(body=GOOD, content_type="text/html", charset="utf-8")


class Plant:
    """What runs under one test; `close` ends all of it."""

    def __init__(self, settings: Settings, logs: Path) -> None:
        self.settings = dataclasses.replace(
            settings,
            allowed_networks=LOCAL,
            credentials_key=settings.credentials_key or new_key(),
            heartbeat_seconds=0.5,
            lease_seconds=2.0,
            dispatch_resend_seconds=2.0,
            writer_batch_seconds=0.01,
        )
        self.site = Site()
        self.events: list[Recorded] = []
        self.keys: JobKeys | None = None  # where the org has erasure: its jobs are sealed as the API seals them
        self.processes: list[subprocess.Popen[bytes]] = []
        self._logs = logs
        self._partition = partition_of_org(ORG, settings.partitions)
        self._commander = Commander(self.settings, "test")

    async def open(self, workflow: bytes) -> None:
        """Start site and decider, register the org, and keep the workflow document."""
        await asyncio.to_thread(ensure_topics, self.settings)
        await asyncio.to_thread(register_schemas, self.settings)
        await self.site.start()
        await BlobStore(self.settings.blobs).put(WORKFLOW_REF, workflow)
        self.start("services.decider")
        await self._commander.start()
        starts = {number: Checkpoint() for number in range(self.settings.partitions)}
        self._log = LedgerLog(self.settings, decoder(self.settings), starts)
        self._watching = asyncio.create_task(self._watch())
        boot_id = self._commander.boot_id
        await self.ask(RegisterOrg(command_id=uuid7(), org_id=ORG, name="Acme", plan="bi", requester=boot_id))

    async def close(self) -> None:
        """End every process."""
        for process in self.processes:
            process.kill()
            process.wait()
        self._watching.cancel()
        await asyncio.wait({self._watching})
        await self._commander.close()
        await self.site.close()

    def start(self, module: str, *, before: str = "", **values: str) -> subprocess.Popen[bytes]:
        """Start one of our processes; `before` is Python that it runs first."""
        log = (self._logs / f"{module}-{len(self.processes)}.log").open("wb")
        with log:
            process = subprocess.Popen(
                [sys.executable, "-c", f"{before}\nimport runpy; runpy.run_module('{module}', run_name='__main__')"],
                cwd=ROOT,
                env=self._environ() | values,
                stdout=log,
                stderr=log,
            )
        self.processes.append(process)
        return process

    async def worker(self, name: str, *, before: str = "", **values: str) -> subprocess.Popen[bytes]:
        """Start a worker and wait until the ledger knows it."""
        process = self.start("services.workers", before=before, JOBLEDGER_WORKER_ID=name, **values)
        alive = self.settings.partitions
        await eventually(lambda: len({e.header.partition for e in self.of("WorkerAlive", worker_id=name)}) == alive, 30)
        return process

    async def submit(self, path: str, *destinations: Destination) -> str:
        """Submit a job for a path of the site and return its id."""
        return (await self.submit_all([path], *destinations))[0]

    async def submit_all(self, paths: Sequence[str], *destinations: Destination, org_id: str = ORG) -> list[str]:
        """Submit a job for each path of the site at once, of an org of this partition, and return their ids."""
        made = [(uuid7(), path) for path in paths]
        jobs = [
            NewJob(job_id=job_id, domain="127.0.0.1", private=await self._private(job_id, path))
            for job_id, path in made
        ]
        await self.ask(
            SubmitJobs(
                command_id=uuid7(),
                org_id=org_id,
                requester=self._commander.boot_id,
                jobs=tuple(jobs),
                workflow_id="w1",
                workflow_version=1,
                workflow_ref=WORKFLOW_REF,
                destinations=destinations or (Destination(destination_id="internal", kind="postgres"),),
            )
        )
        return [job.job_id for job in jobs]

    async def limit(self, in_flight: int) -> None:
        """Set how many jobs of the org may be dispatched or running at once."""
        boot_id = self._commander.boot_id
        await self.ask(ChangeOrgLimit(command_id=uuid7(), org_id=ORG, max_in_flight=in_flight, requester=boot_id))

    async def neighbour(self) -> str:
        """Register another org of this partition, and return its id."""
        ids = (f"org-{number}" for number in itertools.count())
        org_id = next(each for each in ids if partition_of_org(each, self.settings.partitions) == self._partition)
        boot_id = self._commander.boot_id
        await self.ask(RegisterOrg(command_id=uuid7(), org_id=org_id, name=org_id, requester=boot_id))
        return org_id

    async def _private(self, job_id: str, path: str) -> bytes:
        """Return what the API would have made of a url, input and metadata that all hold the path."""
        said = {"url": self.site.url + path, "input": {"path": path}, "metadata": {"path": path}}
        private = b"\0" + json.dumps(said).encode()
        if self.keys is None:
            return private
        return (await self.keys.seal(await self.keys.org_key(ORG), {job_id: private}))[job_id]

    async def delete(self, job_id: str) -> None:
        """Delete a job."""
        await self.ask(DeleteJob(command_id=uuid7(), org_id=ORG, job_id=job_id, requester=self._commander.boot_id))

    async def cancel(self, job_id: str) -> None:
        """Cancel a job."""
        await self.ask(
            CancelJob(command_id=uuid7(), org_id=ORG, job_id=job_id, requester=self._commander.boot_id, reason="test")
        )

    async def promise(self, slots: int) -> None:
        """Announce a worker that nobody is, once: tasks go out for its slots too."""
        boot_id = uuid7()
        alive = AnnounceWorker(
            command_id=uuid7(),
            worker_id="nobody",
            boot_id=boot_id,
            kind="workflow",
            slots=slots,
            free_slots=slots,
            requester=self._commander.boot_id,
        )
        await self._commander.ask(self._partition, alive, 30.0)

    async def ask(self, command: RegisterOrg | ChangeOrgLimit | SubmitJobs | CancelJob | DeleteJob) -> None:
        """Ask the org's decider; it has to agree."""
        reply = await self._commander.ask(self._partition, command, 30.0)
        assert isinstance(reply.body, Done), reply

    def of(self, event_type: str, job_id: str = "", **values: Any) -> list[Recorded]:
        """Return the events seen so far of a type, of a job, with these values."""
        return [
            each
            for each in self.events
            if each.header.event_type == event_type
            and each.event.job_id == job_id
            and all(getattr(each.event, name) == value for name, value in values.items())
        ]

    async def until(self, event_type: str, job_id: str, seconds: float = 30.0, **values: Any) -> AnyEvent:
        """Wait for an event of a job and return it."""
        await eventually(lambda: self.of(event_type, job_id, **values), seconds)
        return self.of(event_type, job_id, **values)[0].event

    def history(self, job_id: str) -> list[str]:
        """Return the types of a job's events, in order."""
        return [each.header.event_type for each in self.events if each.event.job_id == job_id]

    async def _watch(self) -> None:
        try:
            while True:
                entries = await polled(self._log.poll, 500, 0.05)
                self.events += [entry.recorded for entry in entries if entry.recorded]
        finally:
            self._log.close()

    def _environ(self) -> dict[str, str]:
        others = {name: value for name, value in os.environ.items() if not name.startswith("JOBLEDGER_")}
        return others | environ_of(self.settings)


def terminate(process: subprocess.Popen[bytes]) -> None:
    """Ask a process to stop."""
    process.send_signal(signal.SIGTERM)


@asynccontextmanager
async def delivering(settings: Settings, directory: Path, *kinds: str) -> AsyncIterator[Plant]:
    """A plant with its decider, a worker, and a writer of each of these kinds of destinations."""
    plant = Plant(settings, directory)
    try:
        await plant.open(workflow(service("a")))
        await plant.worker("worker-1")
        for kind in kinds:
            plant.start("services.writers", JOBLEDGER_WRITER_KIND=kind)
        yield plant
    finally:
        await plant.close()
