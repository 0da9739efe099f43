"""Writes the jobs of a block in pieces that a warehouse takes, and finds the jobs whose data it does not take."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence

import msgspec

from services.writers.warehouses.warehouse import JobKey, JobRows, Value

Write = Callable[[Sequence[JobRows]], Awaitable[None]]


class DataFault(Exception):
    """The warehouse does not take the data of at least one of the jobs; it has written none of them."""


async def write_halving(jobs: Sequence[JobRows], write: Write) -> Mapping[JobKey, str]:
    """Write jobs; where the data of one is refused, halve until it stands alone, so that the others are written.

    Returns:
        Why the data of a job was refused, by job.
    """
    if not jobs:
        return {}
    try:
        await write(jobs)
        return {}
    except DataFault as fault:
        if len(jobs) == 1:
            return {jobs[0].key: str(fault)}
    middle = len(jobs) // 2
    return {**await write_halving(jobs[:middle], write), **await write_halving(jobs[middle:], write)}


def as_json(values: object) -> str:
    """Return values as JSON, as warehouses take many of them at once."""
    return msgspec.json.encode(values).decode()


def json_arrays(rows: Sequence[Sequence[Value]], max_bytes: int) -> Iterator[str]:
    """Return rows as JSON arrays of rows, each of at most so many bytes; DataFault where one row is larger."""
    held: list[bytes] = []
    size = 2
    for row in rows:
        encoded = msgspec.json.encode(row)
        if len(encoded) + 2 > max_bytes:
            raise DataFault(f"an item is larger than the {max_bytes} bytes that the warehouse takes at once")
        if held and size + len(encoded) + 1 > max_bytes:
            yield _joined(held)
            held, size = [], 2
        held.append(encoded)
        size += len(encoded) + 1
    if held:
        yield _joined(held)


def _joined(rows: Sequence[bytes]) -> str:
    return (b"[" + b",".join(rows) + b"]").decode()
