"""A running spider as its attempt sees it. `services/workers/spiders/process.py` runs real ones; tests have others."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from services.workers.spiders.frames import Note, Snapshot
from services.workers.spiders.options import RunOptions

Killed = Literal["", "memory", "tampered", "stopped"]  # by the worker, and why


@dataclass(frozen=True, slots=True)
class Items:
    """Items as they were scraped, each as JSON."""

    rows: list[bytes] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines of the log, each a `frames.Line` as JSON."""

    lines: list[bytes] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Ended:
    """The process has gone; nothing comes after."""

    exit_code: int  # below 0: the number of a signal
    killed: Killed = ""
    routed: int = 0  # requests that the unblocker answered
    printed: str = field(default="", repr=False)  # the end of what it printed


Heard: TypeAlias = Items | Lines | Note | Snapshot | Ended


class Spider(Protocol):
    """A process."""

    def heard(self) -> AsyncIterator[Heard]:
        """Yield what it says, and Ended at the end. Who does not ask holds it up."""

    async def stop(self, grace_seconds: float) -> None:
        """Ask it to end by itself, and kill it where it does not in time; `heard` goes on to Ended."""

    async def close(self) -> None:
        """Kill it if it runs, and leave nothing of it."""


class Runner(Protocol):
    """Starts spiders."""

    async def start(self, options: RunOptions, archive: bytes) -> Spider:
        """Unpack the project's archive, and start a process for it; raises ArchiveInvalid."""
