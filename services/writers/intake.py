"""From a record of a topic of deliveries to the batcher, or to a dead letter."""

from collections.abc import Callable, Sequence
from typing import Protocol

from services.ledger.messages import Delivery
from services.ledger.wire import DELIVERIES, BadMessage
from services.runtime.reader import Record


class Batching(Protocol):
    """Takes deliveries; the batcher does."""

    async def add(self, deliveries: Sequence[Delivery], done: Callable[[], None]) -> None:
        """Take a record's deliveries; `done` is called once every one is answered."""


class Parking(Protocol):
    """Keeps what cannot be used; `services.runtime.dead_letter.DeadLetters` does."""

    async def park(self, record: Record, reason: str, detail: str = "") -> None:
        """Return when the dead letter is durable."""


class Intake:
    """Takes the records of one writer."""

    def __init__(self, batcher: Batching, dead_letters: Parking) -> None:
        self._batcher = batcher
        self._dead_letters = dead_letters

    async def take(self, record: Record, done: Callable[[], None]) -> None:
        """Return when the record's deliveries wait for their batch; `done` is called once they are answered."""
        try:
            batch = DELIVERIES.decode(record.value)
        except BadMessage as error:
            await self._dead_letters.park(record, "bad_message", str(error))
            done()
        else:
            await self._batcher.add(batch.deliveries, done)
