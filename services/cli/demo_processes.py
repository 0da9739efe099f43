"""Whether every process of the local stack is ready at the end of a run, and none of them was restarted during it."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from services.localstack.state import StackState, read_state
from services.localstack.status import ProcessStatus, look

READY_SECONDS = 20.0  # a process that has just lost its destination, or is busy, gets so long to be ready again
LOOK_SECONDS = 0.5
ELSEWHERE = "the processes run elsewhere: JOBLEDGER_API names them"
LOST = "the stack's supervisor is gone"


class ProcessResult(msgspec.Struct, frozen=True, rename="camel"):
    """One process: its state, how often it was restarted during the run, and why it is not as it should be."""

    name: str
    state: str  # ready | not ready | down
    restarts: int
    reason: str = ""

    @property
    def ok(self) -> bool:
        """Whether it is ready and has run all the time."""
        return self.state == "ready" and not self.restarts


class Readiness(msgspec.Struct, frozen=True, rename="camel"):
    """All processes of the stack; `note` says why none was looked at, or what is wrong with the stack as a whole."""

    ok: bool
    processes: list[ProcessResult] = []
    note: str = ""

    @property
    def faulty(self) -> list[ProcessResult]:
        """Return the processes that are not as they should be."""
        return [process for process in self.processes if not process.ok]


@dataclass(frozen=True, slots=True)
class Before:
    """How often each process had been restarted before the run, and how often everything had."""

    restarts: Mapping[str, int]
    fresh_starts: int = 0


def before(file: Path) -> Before:
    """Note how a stack is before a run, from its state file; one that does not run (yet) has restarted nothing."""
    state = read_state(file)
    if state is None or not state.runs():
        return Before({})
    return Before({process.name: process.restarts for process in state.processes}, state.fresh_starts)


def after(file: Path, began: Before, seconds: float = READY_SECONDS) -> Readiness:
    """Say how the stack is now; processes that are not ready are waited for."""
    deadline = time.monotonic() + seconds
    while True:
        state = read_state(file)
        if state is None or not state.runs():
            return Readiness(False, note=LOST)
        found = look(state)
        if all(process.state == "ready" for process in found) or time.monotonic() >= deadline:
            return judged(state, found, began)
        time.sleep(LOOK_SECONDS)


def judged(state: StackState, found: Sequence[ProcessStatus], began: Before) -> Readiness:
    """Compare how the processes are with how they were."""
    processes = [
        ProcessResult(each.name, each.state, max(0, each.restarts - began.restarts.get(each.name, 0)), each.reason)
        for each in found
    ]
    note = ""
    if state.fresh_starts > began.fresh_starts:
        note = "the stack had to start from nothing during the run"
    elif state.phase != "ready":
        note = f"the stack is {state.phase}: {state.step}"
    return Readiness(not note and all(process.ok for process in processes), processes, note)
