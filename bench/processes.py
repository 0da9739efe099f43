"""What processes cost, read from /proc: CPU time and memory of each with its descendants.

A descendant that has a name of its own counts for itself, not for its ancestor.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
TICK_MS = 1000 / os.sysconf("SC_CLK_TCK")
KIB_PER_MIB = 1024
PARENT, OWN_TIMES = 1, slice(11, 15)  # fields of /proc/<pid>/stat after the name: ppid; utime, stime, cutime, cstime


@dataclass(frozen=True, slots=True)
class Memory:
    """Memory in MiB: resident (pages shared by n processes count n times), proportional (they count once)."""

    resident: float
    proportional: float


def cpu_ms(processes: Mapping[str, int]) -> dict[str, float]:
    """Return the CPU time that each process and its descendants have used since they began, ended ones included."""
    named = frozenset(processes.values())
    return {
        name: sum(_cpu_ticks(member) for member in _family(pid, named)) * TICK_MS for name, pid in processes.items()
    }


def memory(processes: Mapping[str, int]) -> dict[str, Memory]:
    """Return the memory of each process together with its descendants."""
    named = frozenset(processes.values())
    return {name: _memory(_family(pid, named)) for name, pid in processes.items()}


def used(before: Mapping[str, float], after: Mapping[str, float]) -> dict[str, float]:
    """Return what was used between two looks."""
    return {name: after[name] - before[name] for name in after}


def _memory(family: Iterable[int]) -> Memory:
    maps = [_maps(member) for member in family]
    return Memory(
        sum(each.get("Rss", 0) for each in maps) / KIB_PER_MIB, sum(each.get("Pss", 0) for each in maps) / KIB_PER_MIB
    )


def _family(pid: int, named: frozenset[int]) -> Iterator[int]:
    """Yield a process and its descendants, without those that have a name and theirs."""
    children: dict[int, list[int]] = {}
    for entry in PROC.iterdir():
        if entry.name.isdigit() and (fields := _stat(int(entry.name))):
            children.setdefault(int(fields[PARENT]), []).append(int(entry.name))
    waiting = [pid]
    while waiting:
        member = waiting.pop()
        yield member
        waiting += [child for child in children.get(member, []) if child not in named]


def _cpu_ticks(pid: int) -> int:
    fields = _stat(pid)
    return sum(map(int, fields[OWN_TIMES])) if fields else 0


def _stat(pid: int) -> list[str]:
    try:
        return (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return []


def _maps(pid: int) -> dict[str, int]:
    try:
        lines = (PROC / str(pid) / "smaps_rollup").read_text().splitlines()[1:]
    except (FileNotFoundError, ProcessLookupError):
        return {}
    return {name: int(rest.split()[0]) for name, _, rest in (line.partition(":") for line in lines)}
