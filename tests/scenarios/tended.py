"""A plant whose processes are started again when they end, as a supervisor does; and what must hold at last."""

import asyncio
import contextlib
import dataclasses
import subprocess
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from projections.verification.snapshot import snapshot_of
from projections.verify import verify
from schemas.events import AnyEvent
from schemas.values import Destination
from services.runtime.settings import Settings
from tests.eventually import eventually
from tests.integration.workers.plant import Plant
from tests.unit.workers.fakes import service, workflow

LOOK_SECONDS = 0.2  # between two looks at the processes
PATIENCE_SECONDS = 120.0  # for what takes some seconds on a machine with nothing else to do
INTERNAL = Destination(destination_id="internal", kind="postgres")
SNAPSHOTS = "import services.snapshotter.sink as sink; sink.EVENTS_BETWEEN = 1"
SERVICES = ("services.writers", "projections")
ENDS = ("JobCompleted", "JobFailed", "JobCancelled")


class Tended(Plant):
    """A plant with writer, projection and worker; the lease is short."""

    def __init__(self, settings: Settings, logs: Path, lease_seconds: float) -> None:
        super().__init__(settings, logs)
        self.settings = dataclasses.replace(self.settings, clickhouse="", lease_seconds=lease_seconds)
        self._programs: dict[subprocess.Popen[bytes], Callable[[], object]] = {}
        self._modules: dict[subprocess.Popen[bytes], tuple[str, int]] = {}
        self._tending: asyncio.Task[None] | None = None

    def start(self, module: str, *, before: str = "", **values: str) -> subprocess.Popen[bytes]:
        """Start one of our processes, and again whenever it ends."""
        number = len(self.processes)
        process = super().start(module, before=before, **values)
        self._modules[process] = module, number
        self._programs[process] = partial(self.start, module, before=before, **values)
        return process

    def running(self, module: str) -> subprocess.Popen[bytes]:
        """Return the newest process of a module."""
        return next(process for process in reversed(self._modules) if self._modules[process][0] == module)

    def log_of(self, process: subprocess.Popen[bytes]) -> Path:
        """Return where a process writes its log."""
        module, number = self._modules[process]
        return self._logs / f"{module}-{number}.log"

    def forget(self, process: subprocess.Popen[bytes]) -> None:
        """End a process for good."""
        del self._programs[process]
        process.kill()
        process.wait()

    async def begin(self) -> subprocess.Popen[bytes]:
        """Start everything and return the worker."""
        await self.open(workflow(service("a", timeoutSeconds=120, retries=3, retryBackoff="deferred")))
        for module in SERVICES:
            self.start(module)
        self.tend()
        return await self.worker("worker-1")

    async def close(self) -> None:
        """End everything."""
        await self.rest()
        await super().close()

    async def until(self, event_type: str, job_id: str, seconds: float = PATIENCE_SECONDS, **values: Any) -> AnyEvent:
        """Wait for an event of a job and return it; where it does not come, say what did."""
        try:
            return await super().until(event_type, job_id, seconds, **values)
        except TimeoutError:
            ended = [module for module, number in self._modules.values() if self.processes[number].poll() is not None]
            told = [(each.header.event_type, each.event.attempt) for each in self.events if each.event.job_id == job_id]
            raise AssertionError(f"no {event_type} within {seconds:g} s, but {told}; ended: {ended}") from None

    def tend(self) -> None:
        """Start again what ends, from now on."""
        self._tending = asyncio.create_task(self._tend())

    async def rest(self) -> None:
        """Start nothing any more."""
        if self._tending:
            self._tending.cancel()
            await asyncio.wait({self._tending})

    async def kill_all(self) -> None:
        """Kill every process, and start none again."""
        await self.rest()
        for process in self._programs:
            process.kill()
            process.wait()

    def start_all(self) -> None:
        """Start what was killed."""
        self._again(list(self._programs))
        self.tend()

    async def ended(self, jobs: Sequence[str]) -> None:
        """Wait until every job is completed, each once."""
        for job_id in jobs:
            await eventually(lambda job_id=job_id: set(self.history(job_id)) & set(ENDS), PATIENCE_SECONDS)  # type: ignore[misc]
            assert [name for name in self.history(job_id) if name in ENDS] == ["JobCompleted"], self.history(job_id)

    async def verified(self, jobs: Sequence[str]) -> None:
        """Wait until the read model has all that was seen, and hold it against the log."""
        seen = {each.header.partition: each.header.position for each in self.events}
        await eventually(lambda: asyncio.to_thread(self._projected, seen), PATIENCE_SECONDS)
        report = await asyncio.to_thread(verify, self.settings)
        assert report.ok, report.faults
        assert report.jobs == len(jobs)

    def _projected(self, seen: dict[int, int]) -> bool:
        with snapshot_of(self.settings.postgres) as snapshot:
            projected = snapshot.checkpoints()
        return all(at in projected and projected[at].position >= position for at, position in seen.items())

    async def _tend(self) -> None:
        while True:
            self._again([process for process in self._programs if process.poll() is not None])
            await asyncio.sleep(LOOK_SECONDS)

    def _again(self, ended: list[subprocess.Popen[bytes]]) -> None:
        for process in ended:
            self._programs.pop(process)()


@asynccontextmanager
async def tended(settings: Settings, logs: Path, lease_seconds: float = 4.0) -> AsyncIterator[Tended]:
    """A plant that does not outlive the test."""
    plant = Tended(settings, logs, lease_seconds)
    try:
        yield plant
    finally:
        with contextlib.suppress(AttributeError):  # it never opened
            await plant.close()
