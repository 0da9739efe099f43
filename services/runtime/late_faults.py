"""Faults that come when nobody waits for them any more: a process that leaves raises the first, and says the others."""

import asyncio
import logging

log = logging.getLogger(__name__)


def say_if_it_fails(fault: asyncio.Future[None]) -> None:
    """Log the error of a future that nobody waits for any more; without, asyncio tells of it once it is freed."""
    fault.add_done_callback(_say)


def _say(fault: asyncio.Future[None]) -> None:
    error = None if fault.cancelled() else fault.exception()
    if error:
        log.error("failed while the process was leaving", exc_info=error)
