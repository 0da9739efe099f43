"""Start and stop a stack from outside its supervisor, whatever state an earlier one was left in."""

import os
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence

from services.localstack.child import rotate
from services.localstack.errors import StartFailed
from services.localstack.identity import Identity, end, identity_of, is_alive
from services.localstack.places import StackDir
from services.localstack.state import StackState, read_state

POLL_SECONDS = 0.1
DOWN_SECONDS = 90.0  # every process may take its own time to stop, one after the other
ORPHAN_SECONDS = 15.0
SUPERVISOR = ("-m", "services.localstack")


def up(
    directory: StackDir,
    environ: Mapping[str, str],
    tell: Callable[[StackState], None],
    supervisor: Sequence[str] = SUPERVISOR,
) -> StackState:
    """Start the stack in the background unless it runs, and return once it is ready; `tell` sees every new state."""
    directory.create()
    state = read_state(directory.state)
    if state is not None and state.runs() and state.phase != "stopping":
        return _wait_ready(directory, state.supervisor, tell)
    down(directory)
    return _wait_ready(directory, _start_supervisor(directory, environ, supervisor), tell)


def down(directory: StackDir) -> list[Identity]:
    """Stop the stack and whatever an earlier supervisor left; return the processes that had to be killed."""
    state = read_state(directory.state)
    if state is None:
        return []
    killed = [] if end(state.supervisor, signal.SIGTERM, DOWN_SECONDS) else [state.supervisor]
    return killed + sweep(directory, state)


def sweep(directory: StackDir, state: StackState | None = None) -> list[Identity]:
    """End every process of a stack whose supervisor is gone; return those that had to be killed."""
    state = read_state(directory.state) or state
    processes = state.processes if state else ()
    orphans = [(process, process.identity) for process in reversed(processes) if process.identity]
    killed = [
        identity
        for process, identity in orphans
        if is_alive(identity) and not end(identity, signal.Signals(process.stop_signal), ORPHAN_SECONDS)
    ]
    directory.state.unlink(missing_ok=True)
    return killed


def _start_supervisor(directory: StackDir, environ: Mapping[str, str], supervisor: Sequence[str]) -> Identity | None:
    """Start the supervisor as a process that outlives this one; None where it has ended already."""
    log = directory.log("supervisor")
    rotate(log)
    pid = os.posix_spawn(
        sys.executable,
        (sys.executable, "-P", *supervisor),
        {**os.environ, **environ, "JOBLEDGER_STACK_DIR": str(directory.root)},
        file_actions=(
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, str(log), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ),
        setsid=True,
    )
    return identity_of(pid)


def _wait_ready(directory: StackDir, supervisor: Identity | None, tell: Callable[[StackState], None]) -> StackState:
    """Wait for the stack of a supervisor to be ready; StartFailed with its reason where it ends before that."""
    seen = None
    while True:
        state = read_state(directory.state)
        if state is not None and state != seen:
            tell(state)
            seen = state
        if state is not None and state.phase == "ready":
            return state
        if supervisor is None or not is_alive(supervisor):
            failed = read_state(directory.state)
            reason = failed.error if failed and failed.error else "the supervisor ended"
            directory.state.unlink(missing_ok=True)
            raise StartFailed(f"{reason}\n(logs: {directory.logs})")
        time.sleep(POLL_SECONDS)
