"""Tell a process from a later one that was given the same pid."""

import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

POLL_SECONDS = 0.02


@dataclass(frozen=True, slots=True)
class Identity:
    """A pid and when its process started, in whatever unit this system counts."""

    pid: int
    started: str


def identity_of(pid: int) -> Identity | None:
    """The identity of a live process, or None; a zombie is not alive."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None if Path("/proc/self").exists() else _identity_by_ps(pid)
    return None if fields[0] in "ZX" else Identity(pid, fields[19])


def is_alive(identity: Identity) -> bool:
    """Say whether exactly this process still runs."""
    return identity_of(identity.pid) == identity


def end(identity: Identity, number: signal.Signals, seconds: float) -> bool:
    """Ask a process to end and wait for it; kill it with its group after `seconds`. Say whether asking was enough."""
    if _send(identity, number) and _gone_within(identity, seconds):
        return True
    if not is_alive(identity):
        return True
    _kill_group(identity)
    _gone_within(identity, seconds)
    return False


def _send(identity: Identity, number: signal.Signals) -> bool:
    if not is_alive(identity):
        return False
    try:
        os.kill(identity.pid, number)
    except ProcessLookupError:
        return False
    return True


def _kill_group(identity: Identity) -> None:
    """Kill the whole group of a process that leads one, or else the process alone."""
    try:
        if os.getpgid(identity.pid) == identity.pid:
            os.killpg(identity.pid, signal.SIGKILL)
        else:
            os.kill(identity.pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _gone_within(identity: Identity, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while is_alive(identity):
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_SECONDS)
    return True


def _identity_by_ps(pid: int) -> Identity | None:
    answer = subprocess.run(["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    started = answer.stdout.strip()
    return Identity(pid, started) if started else None
