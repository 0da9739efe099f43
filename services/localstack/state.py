"""What runs in a stack directory, as one JSON file that its supervisor rewrites at every change."""

import signal
from pathlib import Path
from typing import Literal

import msgspec

from services.localstack.identity import Identity, is_alive
from services.localstack.secret_file import write_private

Phase = Literal["starting", "ready", "failed", "stopping"]


class ProcessState(msgspec.Struct, frozen=True):
    """One process of the stack; `since` is in seconds since the epoch, `path` answers 200 when it is ready."""

    name: str
    identity: Identity | None  # None: it is not running now
    since: float
    restarts: int
    port: int
    endpoint: str
    path: str  # empty: it does not speak HTTP
    log: str
    stop_signal: int = signal.SIGTERM


class StackState(msgspec.Struct, frozen=True):
    """A stack as its supervisor last saw it; `environ` is what a client of the stack sets, and holds a password."""

    phase: Phase
    step: str  # what is being done or was done last
    supervisor: Identity
    broker: str = ""  # which broker was taken and why
    ephemeral: bool = False  # all data is lost at the stop
    fresh_starts: int = 0  # how often everything had to start from nothing
    processes: tuple[ProcessState, ...] = ()
    environ: dict[str, str] = {}
    error: str = ""

    def runs(self) -> bool:
        """Say whether the supervisor that wrote this is alive."""
        return is_alive(self.supervisor)

    def process(self, name: str) -> ProcessState | None:
        """One process by name."""
        return next((process for process in self.processes if process.name == name), None)


def read_state(file: Path) -> StackState | None:
    """The last written state, or None where nothing runs."""
    try:
        return msgspec.json.decode(file.read_bytes(), type=StackState)
    except FileNotFoundError:
        return None


def write_state(file: Path, state: StackState) -> None:
    """Replace the state in one step."""
    write_private(file, msgspec.json.encode(state))
