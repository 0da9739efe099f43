"""Reads what may take long in processes of their own, which are killed once a page has had its time."""

import mmap
import os
import pickle
import select
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from typing import IO, Any, TypeVar

from services.workers.extract.apart import NAME_BYTES, received, sent
from services.workers.extract.extractor import Tell

CHILD = "services.workers.extract.apart"
CPU_SECONDS = 10.0  # of a page; good ones take milliseconds
WALL_SECONDS = 50.0  # for those: less than a thread of ours waits
KEPT = ("PATH", "PYTHONPATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH")

T = TypeVar("T")


class Killed(Exception):
    """The process had to be killed; `args[0]` is the field that it read, empty before the first one."""


class Apart:
    """Processes with nothing of ours in them but the code; one that is done waits for the next page."""

    def __init__(self, cpu_seconds: float = CPU_SECONDS) -> None:
        self.cpu_seconds = cpu_seconds
        self._idle: _Process | None = None
        self._lock = threading.Lock()

    def read(self, work: Callable[[Tell], T]) -> T:
        """Do picklable work and return what it returns or raise what it raises; Killed. Call it from a thread."""
        with self._lock:
            process, self._idle = self._idle, None
        process = process or _Process()
        try:
            result, error = process.answer((self.cpu_seconds, work))
        except Killed:
            process.close()
            raise
        with self._lock:
            process, self._idle = self._idle, process  # one is enough while pages are good
        if process:
            process.close()
        if error is not None:
            raise error
        return result  # type: ignore[no-any-return]  # of the work

    def close(self) -> None:
        """End the process that waits."""
        with self._lock:
            process, self._idle = self._idle, None
        if process:
            process.close()


class _Process:
    def __init__(self) -> None:
        with tempfile.TemporaryFile() as shared:
            os.ftruncate(shared.fileno(), NAME_BYTES)
            self._field = mmap.mmap(shared.fileno(), NAME_BYTES)
            self._process = subprocess.Popen(
                [sys.executable, "-m", CHILD, str(shared.fileno())],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                pass_fds=[shared.fileno()],
                env={name: os.environ[name] for name in KEPT if name in os.environ},
            )

    def answer(self, asked: object) -> tuple[Any, BaseException | None]:
        """Return the result of a piece of work, or the error that it raised."""
        source, sink = _there(self._process.stdout), _there(self._process.stdin)
        try:
            sent(sink, pickle.dumps(asked))
            answered = select.select([source], [], [], WALL_SECONDS)[0] and received(source)
        except BrokenPipeError:
            answered = b""
        if not answered:
            raise Killed(self._field[:].rstrip(b"\0").decode("utf-8", "replace"))
        result, error = pickle.loads(answered)  # noqa: S301  # of a process of ours
        return result, error

    def close(self) -> None:
        """Kill it."""
        self._process.kill()
        self._process.communicate()
        self._field.close()


def _there(pipe: IO[bytes] | None) -> Any:
    assert pipe is not None
    return pipe
