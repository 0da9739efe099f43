"""Waits on a condition with a deadline."""

import asyncio
from collections.abc import Awaitable, Callable
from inspect import isawaitable

LOOK_SECONDS = 0.01  # between two looks


async def eventually(condition: Callable[[], object | Awaitable[object]], seconds: float = 10.0) -> None:
    """Return once the condition holds; raise TimeoutError at the deadline. The condition may be a coroutine."""
    async with asyncio.timeout(seconds):
        while True:
            holds = condition()
            if await holds if isawaitable(holds) else holds:
                return
            await asyncio.sleep(LOOK_SECONDS)
