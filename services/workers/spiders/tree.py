"""A process with all that it started, or all of a user: how much memory they hold, and their end."""

import contextlib
import os
import signal
from collections.abc import Set as AbstractSet
from pathlib import Path

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
PROC = Path("/proc")
KILL_ROUNDS = 100  # a process that is killed may have started others just before


def family(pid: int) -> list[int]:
    """Return a process and its descendants, as far as the system tells."""
    found = [pid]
    for each in found:
        with contextlib.suppress(OSError):
            for thread in (PROC / str(each) / "task").iterdir():
                with contextlib.suppress(OSError):
                    found += map(int, (thread / "children").read_text().split())
    return found


def resident_bytes(pid: int) -> int:
    """Return the memory that a process and its descendants hold; 0 where the system does not tell."""
    total = 0
    for each in family(pid):
        with contextlib.suppress(OSError, IndexError, ValueError):
            total += int((PROC / str(each) / "statm").read_text().split()[1]) * PAGE_BYTES
    return total


def kill(pid: int) -> None:
    """Kill a process that leads a group, its group, and descendants that left the group."""
    for each in family(pid)[1:]:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(each, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def kill_users(uids: AbstractSet[int]) -> None:
    """Kill all that runs as one of these users, until nothing does."""
    for _ in range(KILL_ROUNDS):
        there = [int(each.name) for each in PROC.glob("[0-9]*") if _lives_as(each, uids)]
        for pid in there:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if not there:
            return


def _lives_as(process: Path, uids: AbstractSet[int]) -> bool:
    try:
        text = (process / "status").read_text("utf-8", "replace")  # a process may have any bytes for its name
        said = dict(line.split(":", 1) for line in text.split("\n") if ":" in line)
    except OSError:
        return False
    return said["State"].split()[0] not in "ZX" and not uids.isdisjoint(map(int, said["Uid"].split()))
