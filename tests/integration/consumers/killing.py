"""Runs a program of the page again and again, each time killed one line later: `... killing NAME BATCH_RECORDS`.

The first is killed at its first `with`. Everything is imported once; each run is a fork that has no thread yet. A run
that has read to the end of the log is told to stop, as by SIGTERM; once one has, the program came through, and it is
printed how many were killed before.
"""

import ast
import os
import signal
import sys
from types import FrameType
from typing import Any

import psycopg  # noqa: F401  # imported here, or each fork takes its time for it

from schemas.client import reader
from schemas.client.reader import Batch, EventReader
from tests.integration.consumers.page import PAGE, programs


def run(code: Any, killed_at: int) -> None:
    """Run the program and kill this process at the line that is the `killed_at`th to be executed."""
    left = killed_at

    def trace(frame: FrameType, what: str, _: Any) -> Any:
        nonlocal left
        if frame.f_code.co_filename != str(PAGE):
            return None
        if what == "line":
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return trace

    sys.settrace(trace)
    exec(code, {"__name__": "__main__"})  # the program of the page
    sys.settrace(None)


def main(name: str, batch_records: str) -> int:
    """Fork runs until one ends by itself."""
    reader.BATCH_RECORDS = int(batch_records)
    poll = EventReader.poll

    def poll_and_leave(self: EventReader, max_records: int, timeout_seconds: float) -> Batch:
        batch = poll(self, max_records, timeout_seconds)
        if self.at_end():
            self.stop()
        return batch

    EventReader.poll = poll_and_leave  # type: ignore[method-assign]
    code = compile(programs()[name], PAGE, "exec")
    killed_at = next(at for at, each in enumerate(ast.parse(programs()[name]).body) if isinstance(each, ast.With)) - 1
    first = killed_at + 1
    while True:
        killed_at += 1
        child = os.fork()
        if child == 0:
            run(code, killed_at)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status):
            sys.stdout.write(f"{killed_at - first}\n")
            return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
