"""From a record to a message that is used, or to a dead letter."""

from collections.abc import Awaitable, Callable
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
    """Takes the records of one topic; `use` gets each message, and what to call once the message is taken care of."""

    def __init__(self, codec: Codec[T], use: Callable[[T, Done], Awaitable[None]], dead_letters: Parking) -> None:
        self._codec = codec
        self._use = use
        self._dead_letters = dead_letters

    async def take(self, record: Record, done: Done) -> None:
        """Return when there is room for the next record."""
        try:
            message = self._codec.decode(record.value)
        except BadMessage as error:
            await self._dead_letters.park(record, "bad_message", str(error))
            done()
        else:
            await self._use(message, done)
