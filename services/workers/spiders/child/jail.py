"""What a spider's process gives up for good before any code of a stranger runs in it."""

import ctypes
import logging
import math
import os
import random
import resource
import sys

from services.workers.spiders.frames import OURS

CLONE_NEWUSER, CLONE_NEWNET = 0x1000_0000, 0x4000_0000
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS, PR_CAPBSET_DROP = 1, 4, 38, 24
CAPABILITY_VERSION_3 = 0x2008_0522
LAST_CAPABILITY = 63
SIGKILL = 9
MAX_FILES = 4_096
MAX_FILE_BYTES = 1024 * 1024 * 1024
MAX_PROCESSES = 512  # threads count too; of the whole user, where the spider has one of its own
MEMORY_SLACK = 2  # times the limit that a process may ask for: what it uses is what it is killed for
LEAST_DATA_BYTES = 256 * 1024 * 1024  # that Scrapy itself asks for, generously

log = logging.getLogger(OURS)


def limit(memory_mb: int, cpus: float, *, own_user: bool) -> None:
    """Set limits that a process without privileges cannot raise again."""
    most = max(MEMORY_SLACK * memory_mb * 1024 * 1024, LEAST_DATA_BYTES)
    limits = {"RLIMIT_CORE": 0, "RLIMIT_NOFILE": MAX_FILES, "RLIMIT_FSIZE": MAX_FILE_BYTES, "RLIMIT_DATA": most}
    if own_user:
        limits["RLIMIT_NPROC"] = MAX_PROCESSES
    for name, value in limits.items():
        number = getattr(resource, name, None)
        if number is not None:
            _, hard = resource.getrlimit(number)
            bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(number, (bound, bound))
    if hasattr(os, "sched_setaffinity"):
        there = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, random.sample(there, min(len(there), math.ceil(cpus))))


def leave_network() -> str:
    """Move into a network of its own that has no interface; return why that was not possible, or nothing.

    Nothing of the machine's network is touched: the new one stays empty, and goes with the process.
    """
    if not sys.platform.startswith("linux"):
        return "only Linux has network namespaces"
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET) == 0:
        return ""
    uid, gid = os.getuid(), os.getgid()
    if libc.unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0:
        return f"unshare: {os.strerror(ctypes.get_errno())}"
    for name, line in (("setgroups", "deny"), ("uid_map", f"{uid} {uid} 1"), ("gid_map", f"{gid} {gid} 1")):
        with open(f"/proc/self/{name}", "w") as file:  # noqa: PTH123
            file.write(line)
    return ""


def drop_privileges() -> None:
    """Give up every capability, and that a program which is run gives one back; die with the worker."""
    if not sys.platform.startswith("linux"):
        return
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0)
    for capability in range(LAST_CAPABILITY + 1):
        if libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0:
            break
    header = (ctypes.c_uint32 * 2)(CAPABILITY_VERSION_3, 0)
    none = (ctypes.c_uint32 * 6)()
    if libc.capset(ctypes.byref(header), ctypes.byref(none)) != 0:
        log.warning("the process keeps its privileges: capset: %s", os.strerror(ctypes.get_errno()))
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)  # spiders of the same user do not look into one another
