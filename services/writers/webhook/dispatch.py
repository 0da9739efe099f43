"""From records of deliveries to answers: notices wait for Postgres, endpoints have lanes, records end when answered.

A delivery that the ledger sends again while the first one waits joins it: it is sent once and answered once. One for
which its endpoint's lane has no room, and a notice while too many wait for Postgres, is left to the ledger, which
sends again what nobody answered: neither holds up the deliveries behind it, and neither uses up a try. So is most of
what waits for an endpoint that asked for a pause.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Protocol

import msgspec

from schemas.values import After
from services.ledger.reports import DeliveryResult
from services.ledger.tasks import Delivery, DeliveryBatch
from services.runtime.health import Progress
from services.runtime.metrics import level
from services.runtime.settings import Settings
from services.writers.telling import Telling
from services.writers.webhook.calls import endpoint_of
from services.writers.webhook.endpoints import Name
from services.writers.webhook.lanes import Lanes
from services.writers.webhook.throttles import Throttles

CALLS_IN_ALL = 512  # under way at once
WAITING_PER_ENDPOINT = 2_000
WAITING_FOR_THROTTLED = 100  # of an endpoint that is called less than usual: enough to open up with
HELD = 20_000  # deliveries in memory; beyond, no record is taken
UNFOLDED = 10_000  # notices among them that wait for Postgres
PULSE_SECONDS = 2.0  # of the readiness while nothing comes
FOLDED_SECONDS = 30.0  # how long one look at the read model's position waits
MARGIN_SECONDS = 0.001  # behind a pause: a timer may be early by its clock's resolution
Key = tuple[str, str, str, int]  # org, job, destination, generation


class ReadPositions(Protocol):
    """Knows how far the read model has folded; `projections.postgres.positions.Positions` does."""

    async def reached(self, partition: int, position: int, timeout_seconds: float) -> bool:
        """Tell whether the read model has folded that position, waiting for it at most so long."""


@dataclass(slots=True)
class _Record:
    """A record that is done when all its deliveries are answered."""

    left: int
    done: Callable[[], None]

    def one_less(self) -> None:
        self.left -= 1
        if not self.left:
            self.done()


@dataclass(slots=True)
class _Flight:
    """A delivery on its way, with the records that it came in."""

    delivery: Delivery
    records: list[_Record] = field(default_factory=list)
    result: DeliveryResult | None = None

    @property
    def key(self) -> Key:
        return key_of(self.delivery)


def key_of(delivery: Delivery) -> Key:
    """Return what a delivery and its repeats have in common."""
    return delivery.org_id, delivery.job_id, delivery.destination_id, delivery.generation


def throttles_of(settings: Settings) -> Throttles:
    """Return what bounds the endpoints of one writer."""
    return Throttles(
        calls=settings.webhook_calls, waiting=WAITING_PER_ENDPOINT, waiting_throttled=WAITING_FOR_THROTTLED
    )


class Dispatch:
    """Takes records and answers their deliveries; `run` before the first one."""

    def __init__(
        self,
        deliver: Callable[[Delivery], Awaitable[DeliveryResult]],
        positions: ReadPositions,
        telling: Telling,
        progress: Progress,
        throttles: Throttles,
    ) -> None:
        self._deliver = deliver
        self._positions = positions
        self._telling = telling
        self._progress = progress
        self._throttles = throttles
        self._lanes: Lanes[_Flight] = Lanes(self._fly, throttles, in_all=CALLS_IN_ALL)
        self._flights: dict[Key, _Flight] = {}
        self._landed: list[_Flight] = []
        self._unfolded = 0
        self._answers = asyncio.Event()
        self._room = asyncio.Event()
        self._group: asyncio.Future[asyncio.TaskGroup] = asyncio.get_running_loop().create_future()

    async def add(self, batch: DeliveryBatch, done: Callable[[], None]) -> None:
        """Take a record; wait as long as too many deliveries are held already."""
        group = await asyncio.shield(self._group)
        while len(self._flights) >= HELD:
            self._room.clear()
            await self._room.wait()
        if not batch.deliveries:
            done()
            return
        record = _Record(len(batch.deliveries), done)
        new = [flight for each in batch.deliveries if (flight := self._joined(each, record))]
        self._queue(flight for flight in new if flight.delivery.after is After.EXTRACTION)
        notices = [flight for flight in new if flight.delivery.after is not After.EXTRACTION]
        if notices:
            group.create_task(self._queue_once_folded(notices))

    async def run(self) -> None:
        """Deliver and answer until cancelled; an error ends it."""
        async with asyncio.TaskGroup() as group:
            self._group.set_result(group)
            group.create_task(self._lanes.run())
            while True:
                self._progress.beat(waiting=len(self._flights))
                if self._landed:
                    await self._answer()
                    continue
                self._answers.clear()
                try:
                    async with asyncio.timeout(PULSE_SECONDS):
                        await self._answers.wait()
                except TimeoutError:
                    continue

    def _joined(self, delivery: Delivery, record: _Record) -> _Flight | None:
        """Return a new flight, or None where the delivery joins one that is on its way."""
        flight = self._flights.get(key_of(delivery))
        if flight is not None:
            flight.delivery = max(flight.delivery, delivery, key=lambda each: each.try_number)
            flight.records.append(record)
            return None
        flight = self._flights[key_of(delivery)] = _Flight(delivery, [record])
        return flight

    async def _queue_once_folded(self, notices: list[_Flight]) -> None:
        """Queue the notices of a record when Postgres has the end of all their jobs: one wait for all of them."""
        partition = notices[0].delivery.partition
        position = max(flight.delivery.ended_position for flight in notices)
        if self._unfolded + len(notices) > UNFOLDED:
            for flight in notices:
                self._land(flight)
            return
        self._unfolded += len(notices)
        while not await self._positions.reached(partition, position, FOLDED_SECONDS):
            pass
        self._unfolded -= len(notices)
        self._queue(notices)

    def _queue(self, flights: Iterable[_Flight]) -> None:
        for flight in flights:
            if not self._lanes.put(endpoint_of(flight.delivery), flight):
                self._land(flight)

    async def _fly(self, flight: _Flight) -> None:
        result = await self._deliver(flight.delivery)
        flight.result = msgspec.structs.replace(result, try_number=flight.delivery.try_number)
        self._land(flight)
        self._paused(endpoint_of(flight.delivery))

    def _paused(self, name: Name) -> None:
        """Let go of most of what waits for an endpoint that is paused now, and go on with the rest afterwards."""
        pause = self._throttles.pause_seconds(name)
        level("webhook_endpoints_throttled", self._throttles.throttled())
        if pause:
            for flight in self._lanes.shed(name):
                self._land(flight)
            asyncio.get_running_loop().call_later(pause + MARGIN_SECONDS, self._lanes.refresh, name)

    def _land(self, flight: _Flight) -> None:
        self._landed.append(flight)
        self._answers.set()

    async def _answer(self) -> None:
        """Tell the ledger of all that landed, then let their records end."""
        landed, self._landed = self._landed, []
        answers: defaultdict[int, list[DeliveryResult]] = defaultdict(list)
        for flight in landed:
            if flight.result:
                answers[flight.delivery.partition].append(flight.result)
        await self._telling.tell_all(answers)
        for flight in landed:
            del self._flights[flight.key]
            for record in flight.records:
                record.one_less()
        self._room.set()
