"""Runs work side by side: each lane has a bound of its own, so a slow one fills its lane and delays no other."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, Protocol, TypeVar

T = TypeVar("T")


class Bounds(Protocol):
    """How much goes on in each lane, which may change; `Throttles` knows it of endpoints."""

    def calls(self, name: Hashable) -> int:
        """Return how many items may be worked on at once in a lane; 0: it is paused."""

    def room(self, name: Hashable) -> int:
        """Return how many items may wait in a lane."""


class _Lane(Generic[T]):
    __slots__ = ("running", "waiting")

    def __init__(self) -> None:
        self.waiting: deque[T] = deque()
        self.running = 0


class Lanes(Generic[T]):
    """Takes items in `put` and works on those of each lane in their order, lanes in turn, while `run` runs."""

    def __init__(self, work: Callable[[T], Awaitable[None]], bounds: Bounds, *, in_all: int) -> None:
        self._work = work
        self._bounds = bounds
        self._in_all = in_all  # items worked on at once
        self._lanes: dict[Hashable, _Lane[T]] = {}
        self._ready: OrderedDict[Hashable, _Lane[T]] = OrderedDict()  # that have an item and may begin it
        self._running = 0
        self._changed = asyncio.Event()

    def put(self, name: Hashable, item: T) -> bool:
        """Let an item wait for its turn; False: its lane is full."""
        lane = self._lanes.setdefault(name, _Lane())
        if len(lane.waiting) >= self._bounds.room(name):
            return False
        lane.waiting.append(item)
        self.refresh(name)
        return True

    def shed(self, name: Hashable) -> list[T]:
        """Return what waits in a lane and has no room there any more; the oldest items stay."""
        lane = self._lanes.get(name)
        beyond = len(lane.waiting) - self._bounds.room(name) if lane else 0
        return [lane.waiting.pop() for _ in range(beyond)] if lane else []

    def refresh(self, name: Hashable) -> None:
        """Let a lane begin what its bounds allow now."""
        lane = self._lanes.get(name)
        if lane and lane.waiting and lane.running < self._bounds.calls(name):
            self._ready.setdefault(name, lane)
            self._changed.set()

    async def run(self) -> None:
        """Work until cancelled; an error of the work ends it."""
        async with asyncio.TaskGroup() as group:
            while True:
                while self._ready and self._running < self._in_all:
                    name, lane = self._ready.popitem(last=False)
                    if not lane.waiting or lane.running >= self._bounds.calls(name):
                        continue  # paused since it became ready
                    item = lane.waiting.popleft()
                    lane.running += 1
                    self._running += 1
                    self.refresh(name)
                    group.create_task(self._through(name, lane, item))
                self._changed.clear()
                await self._changed.wait()

    async def _through(self, name: Hashable, lane: _Lane[T], item: T) -> None:
        await self._work(item)
        lane.running -= 1
        self._running -= 1
        self.refresh(name)
        if not lane.running and not lane.waiting:
            del self._lanes[name]
        self._changed.set()
