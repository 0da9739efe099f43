"""What many want at once is asked for by few queries, and nobody is answered from one that began before he asked."""

import asyncio
from collections.abc import Collection

import pytest

from projections.postgres.gathered import Gathered


class Store:
    """Answers when it is told to, with what it holds when a query begins."""

    def __init__(self, lanes: int = 1, most: int = 50) -> None:
        self.holds: dict[str, int] = {}
        self.asked: list[list[str]] = []
        self.may_answer = asyncio.Event()
        self.error: Exception | None = None
        self.gathered = Gathered(self.ask, lanes=lanes, most=most)

    async def ask(self, keys: Collection[str]) -> dict[str, int]:
        """Return what is held of these keys."""
        self.asked.append(sorted(keys))
        found, error = {key: self.holds[key] for key in keys if key in self.holds}, self.error
        await self.may_answer.wait()
        if error:
            raise error
        return found

    async def wanted(self, *keys: str) -> list["asyncio.Task[int | None]"]:
        """Let calls come that want a key each."""
        tasks = [asyncio.create_task(self.gathered.get(key)) for key in keys]
        await asyncio.sleep(0)
        return tasks


async def test_what_comes_while_a_query_is_under_way_goes_out_together() -> None:
    store = Store()
    store.holds = {"a": 1, "b": 2, "c": 3}
    first = await store.wanted("a")
    rest = await store.wanted("b", "c", "b", "none")
    store.may_answer.set()
    assert await asyncio.gather(*first, *rest) == [1, 2, 3, 2, None]
    assert store.asked == [["a"], ["b", "c", "none"]]


async def test_nobody_is_answered_from_a_query_that_began_before_he_asked() -> None:
    store = Store()
    store.holds = {"a": 1}
    first = await store.wanted("a")
    store.holds = {"a": 2}
    later = await store.wanted("a")
    store.may_answer.set()
    assert await asyncio.gather(*first, *later) == [1, 2]


async def test_lanes_and_keys_of_a_query_are_bounded_and_all_are_answered() -> None:
    store = Store(lanes=2, most=3)
    store.holds = {str(number): number for number in range(20)}
    calls = await store.wanted(*store.holds)
    assert len(store.asked) == 2
    store.may_answer.set()
    assert await asyncio.gather(*calls) == list(range(20))
    assert max(map(len, store.asked)) == 3
    assert sorted(key for keys in store.asked for key in keys) == sorted(store.holds)


async def test_a_query_that_fails_is_told_to_those_whom_it_asked_for_and_to_no_others() -> None:
    store = Store()
    first = await store.wanted("a")
    store.error = OSError("away")
    second = await store.wanted("b")
    store.may_answer.set()
    assert await asyncio.gather(*first) == [None]
    with pytest.raises(OSError, match="away"):
        await second[0]
    store.error = None
    assert await store.gathered.get("b") is None


async def test_who_is_given_up_takes_nobody_with_him() -> None:
    store = Store()
    store.holds = {"a": 1, "b": 2}
    first = await store.wanted("a")
    given_up, other = await store.wanted("b", "b")
    given_up.cancel()
    first[0].cancel()
    store.may_answer.set()
    assert await other == 2
    assert (await asyncio.gather(given_up, *first, return_exceptions=True))[0].__class__ is asyncio.CancelledError
    assert await store.gathered.get("a") == 1


async def test_a_failure_that_nobody_waits_for_any_more_is_no_fault() -> None:
    store = Store()
    first = await store.wanted("a")
    store.error = OSError("away")
    [given_up] = await store.wanted("b")
    given_up.cancel()
    store.may_answer.set()
    await asyncio.gather(given_up, *first, return_exceptions=True)
    await asyncio.sleep(0)
    store.error = None
    assert await store.gathered.get("b") is None
