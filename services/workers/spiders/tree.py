"""A process with all that it started: how much memory they hold, and their end."""

import contextlib
import os
import signal
from pathlib import Path

PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
PROC = Path("/proc")


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
