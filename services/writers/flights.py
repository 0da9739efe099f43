"""Deliveries on their way to many places: each is answered once, and a record ends when all that came in it is.

A delivery that the ledger sends again while the first one is on its way joins it: it is sent once and answered once. A
later try that comes while the ledger is told of the one before is sent by itself: nobody would answer it otherwise.
What lands without a result is left to the ledger, which sends again what nobody answered.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass

from msgspec.structs import replace

from services.ledger.reports import DeliveryResult
from services.ledger.tasks import Delivery, DeliveryBatch
from services.writers.telling import Telling

PULSE_SECONDS = 2.0  # of the readiness while nothing comes
Key = tuple[str, str, str, int]  # org, job, destination, generation


@dataclass(slots=True)
class Record:
    """A record that is done when all its deliveries are answered."""

    left: int
    done: Callable[[], None]

    def one_less(self) -> None:
        """Know of one more delivery that is answered."""
        self.left -= 1
        if not self.left:
            self.done()


@dataclass(slots=True)
class Flight:
    """A delivery on its way, with the records that it came in."""

    delivery: Delivery
    records: list[Record]
    result: DeliveryResult | None = None


class Flights:
    """Holds what one writer has on its way."""

    def __init__(self, telling: Telling, *, held: int) -> None:
        self._telling = telling
        self._held = held  # beyond so many deliveries no record is taken
        self._flights: dict[Key, Flight] = {}
        self._landed: list[Flight] = []
        self._answers = asyncio.Event()
        self._room = asyncio.Event()

    def __len__(self) -> int:
        return len(self._flights)

    async def taken(self, batch: DeliveryBatch, done: Callable[[], None]) -> list[Flight]:
        """Take a record once there is room for it, and return what of it is not on its way already."""
        while len(self._flights) >= self._held:
            self._room.clear()
            await self._room.wait()
        if not batch.deliveries:
            done()
        record = Record(len(batch.deliveries), done)
        return [flight for each in batch.deliveries if (flight := self._joined(each, record))]

    def land(self, flight: Flight, result: DeliveryResult | None = None) -> None:
        """Have a delivery answered; without a result it is nobody's answer, and the ledger sends it again."""
        if result:
            flight.result = replace(result, try_number=flight.delivery.try_number)
        self._landed.append(flight)
        self._answers.set()

    async def answered(self) -> bool:
        """Tell the ledger of all that landed, then let its records end; False where nothing has landed for a while."""
        if not self._landed and not await self._something():
            return False
        landed, self._landed = self._landed, []
        answers: defaultdict[int, list[DeliveryResult]] = defaultdict(list)
        for flight in landed:
            if flight.result:
                answers[flight.delivery.partition].append(flight.result)
        await self._telling.tell_all(answers)
        for flight in landed:
            if self._flights.get(key := _key_of(flight.delivery)) is flight:
                del self._flights[key]
            for record in flight.records:
                record.one_less()
        self._room.set()
        return True

    async def _something(self) -> bool:
        """Wait until something has landed."""
        self._answers.clear()
        try:
            async with asyncio.timeout(PULSE_SECONDS):
                return await self._answers.wait()
        except TimeoutError:
            return False

    def _joined(self, delivery: Delivery, record: Record) -> Flight | None:
        """Return a new flight, or None where the delivery joins one that is on its way."""
        flight = self._flights.get(_key_of(delivery))
        if flight is not None and not (flight.result and flight.result.try_number < delivery.try_number):
            flight.delivery = max(flight.delivery, delivery, key=lambda each: each.try_number)
            flight.records.append(record)
            return None
        flight = self._flights[_key_of(delivery)] = Flight(delivery, [record])
        return flight


def _key_of(delivery: Delivery) -> Key:
    """Return what a delivery and its repeats have in common."""
    return delivery.org_id, delivery.job_id, delivery.destination_id, delivery.generation
