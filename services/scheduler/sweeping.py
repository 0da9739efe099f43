"""What all sweeps have in common: one after the other, and a sign of life in between."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from services.runtime.health import Progress

RETRY_SECONDS = 10.0  # after a sweep that came to no end
PULSE_SECONDS = 2.0  # of the readiness between two sweeps

log = logging.getLogger(__name__)


def held(progress: Progress, what: str, reason: str) -> str:
    """Say visibly what a sweep could not do, and return why."""
    progress.stalled(reason)
    log.warning(what, extra={"reason": reason})
    return reason


async def again_and_again(sweep: Callable[[], Awaitable[str]], poll_seconds: float, progress: Progress) -> None:
    """Sweep until cancelled. A sweep returns what kept it from its work, which stays said until the next one."""
    loop = asyncio.get_running_loop()
    while True:
        began = loop.time()
        fault = await sweep()
        again = began + (min(poll_seconds, RETRY_SECONDS) if fault else poll_seconds)
        while (left := again - loop.time()) > 0:
            if not fault:
                progress.beat()
            await asyncio.sleep(min(left, PULSE_SECONDS))
