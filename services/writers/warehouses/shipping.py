"""From records of deliveries to answers: each destination has a lane, whose deliveries go out in batches, one by one.

A delivery that the ledger sends again while the first one waits joins it. One for which its lane has no room is left to
the ledger, which sends again what nobody answered: a destination that is slow fills its lane and delays no other.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from services.ledger.reports import DeliveryResult
from services.ledger.tasks import Delivery, DeliveryBatch
from services.runtime.health import Progress
from services.runtime.metrics import count
from services.writers.flights import Flight, Flights
from services.writers.telling import Telling
from services.writers.warehouses.delivering import name_of
from services.writers.warehouses.kinds import Kind
from services.writers.warehouses.pacing import Pace
from services.writers.warehouses.stored import Name

BATCHES_AT_ONCE = 64  # of different destinations
WAITING_PER_DESTINATION = 4  # batches
HELD = 50_000  # deliveries in memory; beyond, no record is taken
Deliver = Callable[[Name, Sequence[Delivery]], Awaitable[list[DeliveryResult]]]
Done = Callable[[], None]


@dataclass(slots=True)
class _Lane:
    """What waits for one destination; it lives as long as something does."""

    waiting: list[Flight] = field(default_factory=list)
    full: asyncio.Event = field(default_factory=asyncio.Event)


class Shipping:
    """Takes records and answers their deliveries; `run` before the first one."""

    def __init__(
        self,
        kind: Kind,
        deliver: Deliver,
        tidy: Callable[[], Awaitable[None]],
        telling: Telling,
        progress: Progress,
        pace: Pace,
    ) -> None:
        self._kind = kind
        self._deliver = deliver
        self._tidy = tidy
        self._progress = progress
        self._pace = pace
        self._lanes: dict[Name, _Lane] = {}
        self._flights = Flights(telling, held=HELD)
        self._at_once = asyncio.Semaphore(BATCHES_AT_ONCE)
        self._group: asyncio.Future[asyncio.TaskGroup] = asyncio.get_running_loop().create_future()

    async def add(self, batch: DeliveryBatch, done: Done) -> None:
        """Take a record; wait as long as too many deliveries are held already."""
        group = await asyncio.shield(self._group)
        for flight in await self._flights.taken(batch, done):
            self._take(flight, group)

    async def run(self) -> None:
        """Deliver and answer until cancelled; an error ends it."""
        async with asyncio.TaskGroup() as group:
            self._group.set_result(group)
            while True:
                self._progress.beat(waiting=len(self._flights), destinations=len(self._lanes))
                if not await self._flights.answered():
                    await self._tidy()

    def _take(self, flight: Flight, group: asyncio.TaskGroup) -> None:
        name = name_of(flight.delivery)
        lane = self._lanes.get(name)
        if lane is None:
            lane = self._lanes[name] = _Lane()
            group.create_task(self._ship(name, lane))
        if len(lane.waiting) >= WAITING_PER_DESTINATION * self._kind.max_jobs:
            self._flights.land(flight)
            return
        lane.waiting.append(flight)
        if len(lane.waiting) >= self._kind.max_jobs:
            lane.full.set()

    async def _ship(self, name: Name, lane: _Lane) -> None:
        """Deliver what waits in a lane until nothing does."""
        while lane.waiting:
            if len(lane.waiting) < self._kind.max_jobs:
                lane.full.clear()
                try:
                    async with asyncio.timeout(self._kind.seconds):
                        await lane.full.wait()
                except TimeoutError:
                    pass
            if wait := self._pace.wait_seconds(name):
                count("warehouse_blocks_paced", destination_kind=self._kind.name)
                await asyncio.sleep(wait)
            async with self._at_once:
                flights, lane.waiting = lane.waiting[: self._kind.max_jobs], lane.waiting[self._kind.max_jobs :]
                results = await self._deliver(name, [each.delivery for each in flights])
            for flight, result in zip(flights, results, strict=True):
                self._flights.land(flight, result)
        del self._lanes[name]
