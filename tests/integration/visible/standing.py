"""What the tests do to a running stack: look at it, let a process stand still, submit jobs."""

import asyncio
import json
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from services.localstack.places import StackDir
from services.localstack.state import StackState, read_state
from services.localstack.status import ProcessStatus, look
from tests.acceptance.commands import jobledger

# The product promises ten seconds; a machine under load may take this much longer. What was measured is printed.
PROMISED_SECONDS = 10.0
ALLOWED_SECONDS = 45.0
LOOK_SECONDS = 0.25
JOB_SECONDS = 120.0  # a task or delivery that was lost with a member of the group is sent again after 30 s
PLAIN = "demo-plain"


@dataclass
class Standing:
    """A stack that runs, seen from outside."""

    directory: StackDir
    pages: str  # base URL of a site that jobs may fetch from
    settings: Mapping[str, str]  # that it was started with

    def state(self) -> StackState:
        """Return what the supervisor says."""
        state = read_state(self.directory.state)
        assert state is not None, "the stack has gone"
        return state

    def processes(self) -> dict[str, ProcessStatus]:
        """Ask every process how it is."""
        return {process.name: process for process in look(self.state())}

    async def until_ready(self) -> float:
        """Wait until all are ready."""
        return await self.until(lambda found: all(each.state == "ready" for each in found.values()), "ready")

    def submit(self) -> str:
        """Submit one job of the demo's org and return its id."""
        [job] = self.command("submit", f"{self.pages}/product/7", "--workflow", PLAIN)["jobs"]
        return str(job["jobId"])

    async def completed(self, job_id: str) -> None:
        """Wait until a job is completed."""
        async with asyncio.timeout(JOB_SECONDS):
            while (await asyncio.to_thread(self.command, "get", job_id))["status"] != "completed":  # noqa: ASYNC110
                await asyncio.sleep(LOOK_SECONDS)

    def command(self, *arguments: str) -> Any:
        """Run `jobledger ... --json` and return what it says."""
        ran = jobledger(self.directory.root, *arguments, "--json")
        assert ran.stdout, ran.stderr
        return json.loads(ran.stdout)

    async def until(self, condition: Callable[[dict[str, ProcessStatus]], object], what: str) -> float:
        """Wait until the processes are so; return the seconds it took, or fail with how they are."""
        began = time.monotonic()
        while not condition(found := await asyncio.to_thread(self.processes)):
            if time.monotonic() - began > ALLOWED_SECONDS:
                said = "\n".join(f"{each.name}: {each.state} {each.reason}" for each in found.values())
                raise AssertionError(f"not {what} within {ALLOWED_SECONDS:g} s:\n{said}")
            await asyncio.sleep(LOOK_SECONDS)
        return time.monotonic() - began

    @contextmanager
    def stopped(self, name: str) -> Iterator[None]:
        """Let a process and its children stand still."""
        process = self.state().process(name)
        assert process is not None, f"no process is called {name}"
        assert process.identity is not None, f"{name} does not run"
        pids = [process.identity.pid, *children(process.identity.pid)]
        try:
            for pid in pids:
                send(pid, signal.SIGSTOP)
            yield
        finally:
            for pid in pids:
                send(pid, signal.SIGCONT)


def send(pid: int, number: signal.Signals) -> None:
    """Send a signal to a process, if it is still there: a server's children come and go."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def children(pid: int) -> list[int]:
    """Return the children of a process and theirs; Linux only, as the local stack is tested there."""
    found: list[int] = []
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, file.read_text().split()):
            found += [child, *children(child)]
    return found
