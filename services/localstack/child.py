"""One running program: start, wait until it is ready, stop; its output goes to a log file that rotates."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from services.localstack.errors import StartFailed
from services.localstack.identity import Identity, end, identity_of
from services.localstack.program import Program
from services.runtime.process import BAD_SETTINGS

POLL_SECONDS = 0.05
STARTS = 3  # of a service that fails on its way; bad settings fail at once
LOG_BYTES = 10 * 1024 * 1024  # a log file is rotated past this size
LOG_GENERATIONS = 3
TAIL_LINES = 8
TAIL_CHARS = 400  # of each; a JSON line with a traceback has thousands, and what went wrong at its end


class Child:
    """A program's process, in a session of its own, told to stop when the process that started it dies."""

    def __init__(self, program: Program, log: Path) -> None:
        self.program = program
        self.log = log
        self.since = 0.0  # when it was last started, seconds since the epoch
        self._process: subprocess.Popen[bytes] | None = None
        self._identity: Identity | None = None

    @property
    def identity(self) -> Identity | None:
        """Who runs now, or None."""
        return self._identity

    def start(self) -> None:
        """Start the program; it appends to its log."""
        rotate(self.log)
        with self.log.open("ab") as output:
            self._process = subprocess.Popen(
                tied_to_parent(self.program.argv, self.program.stop_signal),
                env={**os.environ, **self.program.environ},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.since = time.time()
        self._identity = identity_of(self._process.pid)

    def returncode(self) -> int | None:
        """How the process ended, or None while it runs."""
        if self._process is None:
            return 0
        return self._process.poll()

    def wait_ready_patiently(self, tell: Callable[[str], None]) -> None:
        """Wait as `wait_ready` does; what a busy machine let down on its way is started once or twice more."""
        for _ in range(STARTS - 1):
            try:
                return self.wait_ready()
            except StartFailed:
                if self.returncode() in (None, BAD_SETTINGS):
                    raise
            tell(f"{self.program.name} ended before it was ready, starting it again")
            self.start()
        return self.wait_ready()

    def wait_ready(self) -> None:
        """Wait until the program is ready, or raise StartFailed with the end of its log."""
        deadline = time.monotonic() + self.program.ready_seconds
        while not self.program.ready():
            code = self.returncode()
            if code is not None:
                raise StartFailed(f"{self.program.name} ended with {_ending(code)}; its log says:\n{self._tail()}")
            if time.monotonic() > deadline:
                raise StartFailed(
                    f"{self.program.name} was not ready after {self.program.ready_seconds:.0f} s; read {self.log}"
                )
            time.sleep(POLL_SECONDS)

    def stop(self) -> bool:
        """Stop the process if it runs; say whether it stopped by itself when asked to."""
        if self._process is None or self._identity is None:
            return True
        clean = self._process.poll() is not None or end(
            self._identity, self.program.stop_signal, self.program.stop_seconds
        )
        self._process.wait()
        self._process = self._identity = None
        self.program.after_stop()
        return clean

    def _tail(self) -> str:
        lines = self.log.read_text(errors="replace").splitlines()[-TAIL_LINES:]
        return "\n".join(f"  {_cut(line)}" for line in lines) or f"  (nothing; {self.log} is empty)"


def tied_to_parent(argv: Sequence[str], number: signal.Signals) -> list[str]:
    """The command that also sends `number` to the program when its parent dies, where this system can do that."""
    setpriv = shutil.which("setpriv")
    if setpriv is None or argv[0] == setpriv:
        return list(argv)
    return [setpriv, "--pdeathsig", number.name.removeprefix("SIG"), *argv]


def rotate(log: Path) -> None:
    """Move a log that has grown too long aside.

    The file is copied and emptied, not renamed: the program keeps appending to the file that it holds. Lines written
    between the two steps are lost.
    """
    if not log.exists() or log.stat().st_size <= LOG_BYTES:
        return
    for number in range(LOG_GENERATIONS - 1, 0, -1):
        older = log.with_name(f"{log.name}.{number}")
        if older.exists():
            older.replace(log.with_name(f"{log.name}.{number + 1}"))
    shutil.copyfile(log, log.with_name(f"{log.name}.1"))
    os.truncate(log, 0)


def _cut(line: str) -> str:
    half = TAIL_CHARS // 2
    return line if len(line) <= TAIL_CHARS else f"{line[:half]} ... {line[-half:]}"


def _ending(code: int) -> str:
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
