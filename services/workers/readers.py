"""Reads pages for a limited time, in threads or processes: what a page or a selector costs is up to somebody else."""

import asyncio
import contextlib
import threading
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from services.workers.apart import Apart, Killed
from services.workers.extract.extractor import Tell

READ_SECONDS = 60.0  # a page takes milliseconds; one made to be hard, or a hard selector, takes hours

T = TypeVar("T")


class PageTooHard(Exception):
    """A page was not read in time."""


class SelectorTooHard(PageTooHard):
    """A selector took more time of the processor than a page may take; the message names its field."""


class ReaderStuck(Exception):
    """A thread that nothing can stop still reads a page: the process has to be started again."""


class Readers:
    """Runs reading work; `stuck` gets an error once a thread is lost, also where nobody waits for it any more."""

    def __init__(self, seconds: float = READ_SECONDS, apart: Apart | None = None) -> None:
        self.stuck: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._seconds = seconds
        self._apart = apart or Apart()

    async def read(self, work: Callable[[], T]) -> T:
        """Return what `work` returns or raise what it raises; PageTooHard after the limit."""
        loop = asyncio.get_running_loop()
        over: asyncio.Future[T] = loop.create_future()
        limit = loop.call_later(self._seconds, self._overdue, over)

        def settle(result: T | None, error: BaseException | None) -> None:
            limit.cancel()
            if over.done():
                return
            if error is None:
                over.set_result(result)  # type: ignore[arg-type]  # None only where T is
            else:
                over.set_exception(error)
                over.exception()  # who asked may have been cancelled

        def run() -> None:
            result, error = None, None
            try:
                result = work()
            except BaseException as raised:
                error = raised
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits
                loop.call_soon_threadsafe(settle, result, error)

        threading.Thread(target=run, name="reader", daemon=True).start()
        return await asyncio.shield(over)

    async def read_apart(self, work: Callable[[Tell], T]) -> T:
        """Return what picklable work returns or raise what it raises; SelectorTooHard once it has taken its time.

        It runs in a process of its own, so that nothing of it goes on then; `work` tells which field it reads.
        """
        try:
            return await self.read(partial(self._apart.read, work))
        except Killed as killed:
            what = f"the selector of {killed.args[0]!r}" if killed.args[0] else "this page"
            raise SelectorTooHard(
                f"{what} takes more than {self._apart.cpu_seconds:g} s of a processor on this page: "
                f"write it with fewer predicates, siblings and // within each other"
            ) from None

    def close(self) -> None:
        """End the processes that wait for pages."""
        self._apart.close()

    def _overdue(self, over: "asyncio.Future[T]") -> None:
        over.set_exception(PageTooHard(f"not read within {self._seconds:g} s"))
        over.exception()
        if not self.stuck.done():
            self.stuck.set_exception(ReaderStuck(f"a page was not read within {self._seconds:g} s"))
