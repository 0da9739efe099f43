"""Runs work side by side: each lane has a bound of its own, so a slow one fills its lane and delays no other."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class _Lane(Generic[T]):
    __slots__ = ("running", "waiting")

    def __init__(self) -> None:
        self.waiting: deque[T] = deque()
        self.running = 0


class Lanes(Generic[T]):
    """Takes items in `put` and works on those of each lane in their order, lanes in turn, while `run` runs."""

    def __init__(self, work: Callable[[T], Awaitable[None]], *, per_lane: int, in_all: int, waiting: int) -> None:
        self._work = work
        self._per_lane = per_lane  # items worked on at once in one lane
        self._in_all = in_all  # items worked on at once
        self._waiting = waiting  # items that may wait in one lane
        self._lanes: dict[Hashable, _Lane[T]] = {}
        self._ready: OrderedDict[Hashable, _Lane[T]] = OrderedDict()  # that have an item and may begin it
        self._running = 0
        self._changed = asyncio.Event()

    def put(self, name: Hashable, item: T) -> bool:
        """Let an item wait for its turn; False: its lane is full."""
        lane = self._lanes.setdefault(name, _Lane())
        if len(lane.waiting) >= self._waiting:
            return False
        lane.waiting.append(item)
        self._refresh(name, lane)
        return True

    async def run(self) -> None:
        """Work until cancelled; an error of the work ends it."""
        async with asyncio.TaskGroup() as group:
            while True:
                while self._ready and self._running < self._in_all:
                    name, lane = self._ready.popitem(last=False)
                    item = lane.waiting.popleft()
                    lane.running += 1
                    self._running += 1
                    self._refresh(name, lane)
                    group.create_task(self._through(name, lane, item))
                self._changed.clear()
                await self._changed.wait()

    async def _through(self, name: Hashable, lane: _Lane[T], item: T) -> None:
        await self._work(item)
        lane.running -= 1
        self._running -= 1
        self._refresh(name, lane)
        if not lane.running and not lane.waiting:
            del self._lanes[name]
        self._changed.set()

    def _refresh(self, name: Hashable, lane: _Lane[T]) -> None:
        if lane.waiting and lane.running < self._per_lane:
            self._ready.setdefault(name, lane)
            self._changed.set()
