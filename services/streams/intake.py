"""From a record to a message that is used, or to a dead letter."""

from collections.abc import Awaitable, Callable, Iterable
from typing import Generic, Protocol, TypeVar

from services.ledger.wire import BadMessage, Codec
from services.runtime.reader import Record
from services.streams.acks import Done

T = TypeVar("T")


class Parking(Protocol):
    """Keeps what cannot be used; `services.runtime.dead_letter.DeadLetters` does."""

    async def park(self, record: Record, reason: str, detail: str = "") -> None:
        """Return when the dead letter is durable."""


class Intake(Generic[T]):
    """Takes the records of one topic; `use` gets each message, and what to call once the message is taken care of.

    `fault` says what is wrong with a message that cannot be used although it is one.
    """

    def __init__(
        self,
        codec: Codec[T],
        use: Callable[[T, Done], Awaitable[None]],
        dead_letters: Parking,
        fault: Callable[[T], str | None],
    ) -> None:
        self._codec = codec
        self._use = use
        self._dead_letters = dead_letters
        self._fault = fault

    async def take(self, record: Record, done: Done) -> None:
        """Return when there is room for the next record."""
        try:
            message = self._codec.decode(record.value)
        except BadMessage as error:
            await self._park(record, "bad_message", str(error), done)
            return
        fault = self._fault(message)
        if fault is None:
            await self._use(message, done)
        else:
            await self._park(record, "unusable_message", fault, done)

    async def _park(self, record: Record, reason: str, detail: str, done: Done) -> None:
        await self._dead_letters.park(record, reason, detail)
        done()


def partition_fault(partitions: int, named: Iterable[int]) -> str | None:
    """Say that a message names a partition that this ledger does not have: what came of it could not be told."""
    for partition in named:
        if not 0 <= partition < partitions:
            return f"partition {partition} of {partitions}"
    return None
