"""Tells jobs whose rows a warehouse refuses from those that it takes."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol, TypeVar

from services.writers.warehouses.warehouse import JobKey


class RowsRefused(Exception):
    """Nothing of what was to be written is there, because of its rows; the message quotes none of them."""

    def __init__(self, message: str, keys: frozenset[JobKey] = frozenset()) -> None:
        super().__init__(message)
        self.keys = keys  # of the jobs that the warehouse names; the others may be good


class Keyed(Protocol):
    """What is written of one job."""

    @property
    def key(self) -> JobKey:
        """Whose it is."""


Part = TypeVar("Part", bound=Keyed)


async def written_apart(parts: Sequence[Part], write: Callable[[Sequence[Part]], Awaitable[None]]) -> dict[JobKey, str]:
    """Write parts, without those that are refused: they are named by the warehouse, or found by halving.

    Returns:
        Why parts are not written, by job.
    """
    refused: dict[JobKey, str] = {}
    left = [list(parts)] if parts else []
    while left:
        tried = left.pop()
        try:
            await write(tried)
        except RowsRefused as error:
            bad = {each.key for each in tried} if len(tried) == 1 else error.keys & {each.key for each in tried}
            refused |= dict.fromkeys(bad, str(error))
            good = [each for each in tried if each.key not in bad]
            middle = len(good) if bad else len(good) // 2
            left.extend(half for half in (good[middle:], good[:middle]) if half)
    return refused
