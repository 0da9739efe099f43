"""System calls that a spider's process gives up where its network has no interface: those that reach anybody anew.

Its worker hands it sockets of the machine's network, each connected to an address that was checked. Native code, or a
program that a spider starts, could have such a socket connect elsewhere; the kernel refuses that to the process and to
all that it starts.
"""

import ctypes
import errno
import os
import platform
import sys
from typing import NamedTuple

PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
ALLOW, ERROR = 0x7FFF_0000, 0x0005_0000
LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER_AT, MACHINE_AT, ARGUMENTS_AT, ARGUMENT_BYTES = 0, 4, 16, 8
OTHER_TABLE = 0x4000_0000  # numbers from here on are those of x32
MSG_FASTOPEN = 0x2000_0000  # connects while it sends
IO_URING = (425, 426, 427)  # does what other calls do, unseen


class Machine(NamedTuple):
    """Numbers of calls, and for those that send, which argument has the flags."""

    audit: int
    reaching: tuple[int, ...]  # connect, listen
    sending: tuple[tuple[int, int], ...]  # sendto, sendmsg, sendmmsg


MACHINES = {
    "x86_64": Machine(0xC000_003E, (42, 50), ((44, 3), (46, 2), (307, 3))),
    "aarch64": Machine(0xC000_00B7, (203, 201), ((206, 3), (211, 2), (269, 3))),
}


class _Step(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint16), ("yes", ctypes.c_uint8), ("no", ctypes.c_uint8), ("value", ctypes.c_uint32))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("steps", ctypes.POINTER(_Step)))


def forbid_reaching() -> str:
    """Give up the calls for good; return why that was not possible, or nothing.

    A process with no privileges can do that once it has said that it wants none back.
    """
    machine = MACHINES.get(platform.machine()) if sys.platform.startswith("linux") else None
    if machine is None:
        return f"no table of system calls for {platform.machine()}"
    steps = program(machine)
    told = _Program(len(steps), (_Step * len(steps))(*(_Step(*step) for step in steps)))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(told), 0, 0) != 0:
        return f"seccomp: {os.strerror(ctypes.get_errno())}"
    return ""


def program(machine: Machine) -> list[tuple[int, int, int, int]]:
    """Return the kernel's steps: a code, how many to skip on yes and on no, a value."""
    steps = [
        (LOAD, 0, 0, MACHINE_AT),
        (EQUAL, 1, 0, machine.audit),
        (RETURN, 0, 0, ERROR | errno.EPERM),
        (LOAD, 0, 0, NUMBER_AT),
        (AT_LEAST, 0, 1, OTHER_TABLE),
        (RETURN, 0, 0, ERROR | errno.EPERM),
    ]
    for numbers, code in ((machine.reaching, errno.EACCES), (IO_URING, errno.ENOSYS)):
        for number in numbers:
            steps += [(EQUAL, 0, 1, number), (RETURN, 0, 0, ERROR | code)]
    for number, flags in machine.sending:
        steps += [
            (EQUAL, 0, 4, number),
            (LOAD, 0, 0, ARGUMENTS_AT + ARGUMENT_BYTES * flags),
            (ANY_BIT, 0, 1, MSG_FASTOPEN),
            (RETURN, 0, 0, ERROR | errno.EACCES),
            (RETURN, 0, 0, ALLOW),
        ]
    return [*steps, (RETURN, 0, 0, ALLOW)]
