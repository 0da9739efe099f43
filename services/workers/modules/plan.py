"""The plan of a job as it is stored, a line for each item, read when its turn comes: memory is for lines alone.

PlanTooLarge  a plan is beyond what a worker keeps of one, in items or bytes
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, overload

import msgspec

from services.workers.modules.protocol import Item, ModuleFailed

MAX_PLAN_BYTES = 64 * 1024 * 1024  # of JSON lines: a worker keeps them as long as it works at the job
_encode = msgspec.json.Encoder().encode


class PlanTooLarge(ModuleFailed):
    """A plan is beyond what a worker keeps of one."""


async def lines_of_plan(plan: AsyncIterator[Mapping[str, Any]], max_items: int) -> list[bytes]:
    """Return a plan, each item as JSON. Raises PlanTooLarge."""
    lines: list[bytes] = []
    taken = 0
    async for value in plan:
        line = _encode(value)
        taken += len(line) + 1
        if len(lines) == max_items:
            raise PlanTooLarge(f"more than {max_items} items: split it into several jobs")
        if taken > MAX_PLAN_BYTES:
            why = f"its first {len(lines) + 1} items take more than the {MAX_PLAN_BYTES} bytes that a plan may take"
            raise PlanTooLarge(f"{why}: split it into several jobs")
        lines.append(line)
    return lines


class PlannedItems(Sequence[Item]):
    """Items of a plan from one on, each made when it is asked for."""

    def __init__(self, lines: Sequence[bytes], first: int) -> None:
        self._lines, self._first = lines, first

    def __len__(self) -> int:
        return max(0, len(self._lines) - self._first)

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> list[Item]: ...
    def __getitem__(self, index: int | slice) -> Item | list[Item]:
        """Return an item, or some, by their places in what is left."""
        if isinstance(index, slice):
            return [self._item(number) for number in range(*index.indices(len(self)))]
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError(index)
        return self._item(place)

    def _item(self, place: int) -> Item:
        number = self._first + place
        return Item(number, msgspec.json.decode(self._lines[number]))
