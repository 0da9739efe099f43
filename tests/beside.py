"""Runs a process's `main` in the test's own event loop, beside the test."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


@asynccontextmanager
async def beside(work: "asyncio._CoroutineLike[None]") -> AsyncIterator["asyncio.Task[None]"]:
    """Run something that never ends while the block runs; that it does end is an error."""
    task: asyncio.Task[None] = asyncio.create_task(work)
    try:
        yield task
        assert not task.done(), task
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
