"""Lanes: bounded each and in all, in turn, in order."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from services.writers.webhook.lanes import Lanes
from tests.eventually import eventually


@dataclass
class Bounds:
    """The same bounds for all lanes, but for those that are paused."""

    per_lane: int = 2
    waiting: int = 100
    paused: set[Hashable] = field(default_factory=set)

    def calls(self, name: Hashable) -> int:
        return 0 if name in self.paused else self.per_lane

    def room(self, name: Hashable) -> int:
        return 1 if name in self.paused else self.waiting


class Work:
    """Items `(lane, number)`; those of a closed lane wait until it is opened."""

    def __init__(self, in_all: int = 100, per_lane: int = 2, waiting: int = 100) -> None:
        self.bounds = Bounds(per_lane, waiting)
        self.lanes: Lanes[tuple[str, int]] = Lanes(self._do, self.bounds, in_all=in_all)
        self.closed: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self.open: set[str] = set()
        self.begun: list[tuple[str, int]] = []
        self.running: Counter[str] = Counter()
        self.most: Counter[str] = Counter()

    def put(self, lane: str, *numbers: int) -> list[bool]:
        return [self.lanes.put(lane, (lane, number)) for number in numbers]

    async def _do(self, item: tuple[str, int]) -> None:
        lane = item[0]
        self.begun.append(item)
        for name in (lane, "all"):
            self.running[name] += 1
            self.most[name] = max(self.most[name], self.running[name])
        if lane not in self.open:
            await self.closed[lane].wait()
        for name in (lane, "all"):
            self.running[name] -= 1


@asynccontextmanager
async def at_work(work: Work) -> AsyncIterator[Work]:
    running = asyncio.create_task(work.lanes.run())
    try:
        yield work
    finally:
        running.cancel()
        await asyncio.wait({running})


async def test_a_lane_that_hangs_does_not_hold_up_another() -> None:
    async with at_work(Work()) as work:
        work.open.add("fast")
        work.put("slow", *range(50))
        work.put("fast", *range(20))
        await eventually(lambda: sum(lane == "fast" for lane, _ in work.begun) == 20)
        assert work.most["slow"] == 2


async def test_items_of_a_lane_begin_in_their_order_and_all_of_them_run() -> None:
    async with at_work(Work(per_lane=1)) as work:
        work.open.update("ab")
        work.put("a", *range(10))
        work.put("b", *range(10))
        await eventually(lambda: len(work.begun) == 20)
        assert [number for lane, number in work.begun if lane == "a"] == list(range(10))


async def test_lanes_take_turns_when_all_of_them_together_are_at_the_bound() -> None:
    async with at_work(Work(in_all=2, per_lane=2)) as work:
        work.open.update("abc")
        for lane in "abc":
            work.put(lane, *range(4))
        await eventually(lambda: len(work.begun) == 12)
        assert work.most["all"] <= 2
        assert {lane for lane, _ in work.begun[:3]} == set("abc")


async def test_a_full_lane_takes_nothing_more_until_it_moves() -> None:
    work = Work(waiting=3)
    assert work.put("a", 1, 2, 3, 4) == [True, True, True, False]
    assert work.put("b", 1) == [True]
    async with at_work(work):
        await eventually(lambda: len(work.begun) == 3)
        assert work.put("a", 5) == [True]


async def test_a_paused_lane_begins_nothing_and_keeps_its_oldest_items_for_afterwards() -> None:
    async with at_work(Work()) as work:
        work.open.update("ab")
        work.bounds.paused.add("a")
        assert work.put("a", 1, 2) == [True, False]
        work.put("b", 1)
        await eventually(lambda: work.begun == [("b", 1)])
        work.bounds.paused.clear()
        work.lanes.refresh("a")
        await eventually(lambda: work.begun == [("b", 1), ("a", 1)])


async def test_a_lane_that_is_paused_lets_go_of_what_has_no_room_any_more() -> None:
    work = Work()
    work.put("a", *range(5))
    work.bounds.paused.add("a")
    assert sorted(work.lanes.shed("a")) == [("a", number) for number in range(1, 5)]
    assert work.lanes.shed("b") == []
    async with at_work(work):
        work.put("b", 7)
        await eventually(lambda: work.begun == [("b", 7)])


async def test_an_error_of_the_work_ends_the_run() -> None:
    async def fails(_item: int) -> None:
        raise ZeroDivisionError

    lanes: Lanes[int] = Lanes(fails, Bounds(), in_all=1)
    lanes.put("a", 1)
    with pytest.raises(ExceptionGroup) as raised:
        await lanes.run()
    assert raised.group_contains(ZeroDivisionError)
