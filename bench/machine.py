"""What kind of machine the figures come from; nothing that names it."""

import os
import platform
from pathlib import Path

KIB = 1024
KIB_PER_GIB = 1024 * 1024


def machine_facts() -> dict[str, str | int | float]:
    """Return cores, processor, memory, operating system and Python."""
    return {
        "cores": len(os.sched_getaffinity(0)),
        "processor": _first("/proc/cpuinfo", "model name"),
        "memory_gib": round(int(_first("/proc/meminfo", "MemTotal").split()[0]) / KIB_PER_GIB, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def resident_bytes() -> int:
    """Return the resident memory of this process."""
    return int(_first("/proc/self/status", "VmRSS").split()[0]) * KIB


def _first(file: str, name: str) -> str:
    """Return the value of the first line of that name."""
    for line in Path(file).read_text().splitlines():
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    return "0 unknown"
