"""Polls a consumer in a thread: closed while a poll of it is still under way, it may hang for ever."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def polled(poll: Callable[[int, float], T], most: int, seconds: float) -> T:
    """Return what a poll returns; cancelled, it ends only when the poll has ended, so that closing is safe then."""
    polling = asyncio.ensure_future(asyncio.to_thread(poll, most, seconds))
    try:
        return await asyncio.shield(polling)
    except asyncio.CancelledError:
        await asyncio.wait({polling})
        raise
