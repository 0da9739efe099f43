"""Plans of module jobs: how much a worker keeps of one, and what it says of one that is larger."""

import tracemalloc
from collections.abc import AsyncIterator

import msgspec
import pytest

from services.workers.modules import plan
from services.workers.modules.plan import PlannedItems, PlanTooLarge, lines_of_plan
from services.workers.modules.protocol import Item

ROW = {f"field{n}": n for n in range(20)}
ITEMS = 20_000


async def _values(count: int) -> AsyncIterator[dict[str, object]]:
    for number in range(count):
        yield {"row": {**ROW, "n": number}}


async def test_a_plan_takes_little_more_memory_than_its_lines_also_while_it_is_gone_through() -> None:
    tracemalloc.start()
    try:
        lines = await lines_of_plan(_values(ITEMS), ITEMS)
        for item in PlannedItems(lines, 0):
            assert len(item.value["row"]) == len(ROW) + 1
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 1.5 * sum(map(len, lines))  # as objects it is more than three times as much


async def test_a_plan_of_too_many_items_or_bytes_is_refused_with_the_limit_and_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert len(await lines_of_plan(_values(3), 3)) == 3
    with pytest.raises(PlanTooLarge, match="more than 3 items: split it into several jobs"):
        await lines_of_plan(_values(4), 3)
    size = len(msgspec.json.encode({"row": {**ROW, "n": 0}})) + 1
    monkeypatch.setattr(plan, "MAX_PLAN_BYTES", 3 * size)
    assert len(await lines_of_plan(_values(3), 10)) == 3
    with pytest.raises(PlanTooLarge, match=f"first 4 items take more than the {3 * size} bytes"):
        await lines_of_plan(_values(4), 10)


async def test_items_that_are_left_have_the_numbers_of_the_plan() -> None:
    items = PlannedItems([b'{"n":%d}' % n for n in range(5)], 2)
    assert list(items) == [Item(n, {"n": n}) for n in (2, 3, 4)]
    assert (len(items), items[-1].number, [item.number for item in items[1:]]) == (3, 4, [3, 4])
    assert list(PlannedItems([b"{}"], 4)) == []
