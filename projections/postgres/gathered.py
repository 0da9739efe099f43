"""Asks by one query for what many want at once.

What is wanted while all lanes are busy waits, and goes out together as soon as one is free: a call by itself waits for
nothing, and many at once cost little more than one. No call is answered from a query that began before it came.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Generic, TypeVar

Key = TypeVar("Key")
Found = TypeVar("Found")


class Gathered(Generic[Key, Found]):
    """`ask` returns what is found of some keys; at most `lanes` queries of at most `most` keys are under way."""

    def __init__(
        self, ask: Callable[[Collection[Key]], Awaitable[Mapping[Key, Found]]], *, lanes: int, most: int
    ) -> None:
        self._ask = ask
        self._lanes = lanes
        self._most = most
        self._waiting: dict[Key, asyncio.Future[Found | None]] = {}
        self._under_way = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def get(self, key: Key) -> Found | None:
        """Return what is found of a key, or raise what kept it from being looked for."""
        if self._under_way < self._lanes:
            self._under_way += 1
            try:
                return (await self._ask((key,))).get(key)
            finally:
                self._leave_lane()
        found = self._waiting.get(key)
        if found is None:
            found = self._waiting[key] = asyncio.get_running_loop().create_future()
            found.add_done_callback(_heard)
        return await asyncio.shield(found)  # others may wait for it too

    def _leave_lane(self) -> None:
        self._under_way -= 1
        if self._waiting and self._under_way < self._lanes:
            self._under_way += 1
            task = asyncio.create_task(self._ask_for_waiting())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _ask_for_waiting(self) -> None:
        asked = {key: self._waiting.pop(key) for key in list(self._waiting)[: self._most]}
        try:
            found = await self._ask(asked.keys())
        except BaseException as error:
            for future in asked.values():
                future.set_exception(error if isinstance(error, Exception) else asyncio.CancelledError())
            if not isinstance(error, Exception):
                raise
        else:
            for key, future in asked.items():
                future.set_result(found.get(key))
        finally:
            self._leave_lane()


def _heard(found: asyncio.Future[Found | None]) -> None:
    """Look at a failure also where nobody waits for it any more: a call may have been given up meanwhile."""
    if not found.cancelled():
        found.exception()
