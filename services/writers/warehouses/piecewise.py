"""Writes the jobs of a block in pieces that a warehouse takes, and finds the jobs whose data it does not take."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Protocol, TypeVar

import msgspec

from services.writers.warehouses.warehouse import JobKey, Value


class DataFault(Exception):
    """The warehouse does not take the data of at least one of the jobs; it has written none of them."""

    def __init__(self, message: str, keys: frozenset[JobKey] = frozenset()) -> None:
        super().__init__(message)
        self.keys = keys  # of jobs that it names; the others may be good


class Keyed(Protocol):
    """What is written of one job."""

    @property
    def key(self) -> JobKey:
        """Whose it is."""


Part = TypeVar("Part", bound=Keyed)


async def write_halving(parts: Sequence[Part], write: Callable[[Sequence[Part]], Awaitable[None]]) -> dict[JobKey, str]:
    """Write jobs; where the data of some is refused, find them by their names or by halves, and write the others.

    Returns:
        Why the data of a job was refused, by job.
    """
    refused: dict[JobKey, str] = {}
    left = [list(parts)] if parts else []
    while left:
        tried = left.pop()
        try:
            await write(tried)
        except DataFault as fault:
            bad = {each.key for each in tried} if len(tried) == 1 else fault.keys & {each.key for each in tried}
            refused |= dict.fromkeys(bad, str(fault))
            good = [each for each in tried if each.key not in bad]
            middle = len(good) if bad else len(good) // 2
            left.extend(half for half in (good[middle:], good[:middle]) if half)
    return refused


def as_json(values: object) -> str:
    """Return values as JSON, as warehouses take many of them at once."""
    return msgspec.json.encode(values).decode()


def json_arrays(rows: Sequence[Sequence[Value]], max_bytes: int, max_row_bytes: int = 0) -> Iterator[str]:
    """Return rows as JSON arrays of rows, each of at most so many bytes, or of one row that is larger.

    DataFault where one row is larger than `max_row_bytes`, or than `max_bytes` where that is not given.
    """
    held: list[bytes] = []
    size = 2
    for number, row in enumerate(rows):
        encoded = msgspec.json.encode(row)
        if len(encoded) + 2 > max(max_bytes, max_row_bytes):
            most = max(max_bytes, max_row_bytes)
            raise DataFault(f"row {number} is {len(encoded)} bytes, larger than the {most} bytes that it may have")
        if held and size + len(encoded) + 1 > max_bytes:
            yield _joined(held)
            held, size = [], 2
        held.append(encoded)
        size += len(encoded) + 1
    if held:
        yield _joined(held)


def _joined(rows: Sequence[bytes]) -> str:
    return (b"[" + b",".join(rows) + b"]").decode()
