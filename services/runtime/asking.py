"""Asks again and again whether what a process stands on answers: to a reader, a silent broker looks like a quiet topic.

A question that is still open after some seconds is told too, and waited for: who stands still may go on.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping

from services.runtime.errors import RuntimeFault
from services.runtime.health import Progress
from services.runtime.postgres_faults import reason_of

EVERY_SECONDS = 2.0
PATIENCE_SECONDS = 3.0  # with the time between two questions below ten: red within ten seconds
Figures = Mapping[str, object]
Faults = tuple[type[Exception], ...]


async def keep_asking(
    ask: Callable[[], Awaitable[Figures | None]],
    progress: Progress,
    *,
    who: str,
    faults: Faults = (RuntimeFault,),
    every_seconds: float = EVERY_SECONDS,
    patience_seconds: float = PATIENCE_SECONDS,
) -> None:
    """Say after each question whether there was an answer, and its figures; `faults` are answers that say no."""
    while True:
        question = asyncio.ensure_future(ask())
        try:
            while not (await asyncio.wait({question}, timeout=patience_seconds))[0]:
                progress.stalled(f"{who} does not answer")
            progress.beat(**(question.result() or {}))
        except faults as fault:
            progress.stalled(_said(fault, who))
        finally:
            question.cancel()
        await asyncio.sleep(every_seconds)


async def stop_watching(tasks: list[asyncio.Task[None]]) -> None:
    """Cancel tasks that would go on for ever, and wait until they are gone."""
    for task in tasks:
        task.cancel()
    for task in tasks:
        with contextlib.suppress(asyncio.CancelledError):
            await task


def _said(fault: Exception, who: str) -> str:
    if isinstance(fault, RuntimeFault):  # says itself who it was
        return str(fault)
    return f"{who}: {reason_of(fault)}"
