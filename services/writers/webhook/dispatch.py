"""From records of deliveries to answers: notices wait for Postgres, endpoints have lanes, records end when answered.

A delivery that the ledger sends again while the first one waits joins it: it is sent once and answered once. One for
which its endpoint's lane has no room, and a notice while too many wait for Postgres, is left to the ledger, which
sends again what nobody answered: neither holds up the deliveries behind it, and neither uses up a try. So is most of
what waits for an endpoint that asked for a pause.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Protocol

from schemas.values import After
from services.ledger.reports import DeliveryResult
from services.ledger.tasks import Delivery, DeliveryBatch
from services.runtime.health import Progress
from services.runtime.metrics import level
from services.runtime.settings import Settings
from services.writers.flights import Flight, Flights
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
FOLDED_SECONDS = 30.0  # how long one look at the read model's position waits
MARGIN_SECONDS = 0.001  # behind a pause: a timer may be early by its clock's resolution


class ReadPositions(Protocol):
    """Knows how far the read model has folded; `projections.postgres.positions.Positions` does."""

    async def reached(self, partition: int, position: int, timeout_seconds: float) -> bool:
        """Tell whether the read model has folded that position, waiting for it at most so long."""


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
        self._progress = progress
        self._throttles = throttles
        self._lanes: Lanes[Flight] = Lanes(self._fly, throttles, in_all=CALLS_IN_ALL)
        self._flights = Flights(telling, held=HELD)
        self._unfolded = 0
        self._group: asyncio.Future[asyncio.TaskGroup] = asyncio.get_running_loop().create_future()

    async def add(self, batch: DeliveryBatch, done: Callable[[], None]) -> None:
        """Take a record; wait as long as too many deliveries are held already."""
        group = await asyncio.shield(self._group)
        new = await self._flights.taken(batch, done)
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
                await self._flights.answered()

    async def _queue_once_folded(self, notices: list[Flight]) -> None:
        """Queue the notices of a record when Postgres has the end of all their jobs: one wait for all of them."""
        partition = notices[0].delivery.partition
        position = max(flight.delivery.ended_position for flight in notices)
        if self._unfolded + len(notices) > UNFOLDED:
            for flight in notices:
                self._flights.land(flight)
            return
        self._unfolded += len(notices)
        while not await self._positions.reached(partition, position, FOLDED_SECONDS):
            pass
        self._unfolded -= len(notices)
        self._queue(notices)

    def _queue(self, flights: Iterable[Flight]) -> None:
        for flight in flights:
            if not self._lanes.put(endpoint_of(flight.delivery), flight):
                self._flights.land(flight)

    async def _fly(self, flight: Flight) -> None:
        self._flights.land(flight, await self._deliver(flight.delivery))
        self._paused(endpoint_of(flight.delivery))

    def _paused(self, name: Name) -> None:
        """Let go of most of what waits for an endpoint that is paused now, and go on with the rest afterwards."""
        pause = self._throttles.pause_seconds(name)
        level("webhook_endpoints_throttled", self._throttles.throttled())
        if pause:
            for flight in self._lanes.shed(name):
                self._flights.land(flight)
            asyncio.get_running_loop().call_later(pause + MARGIN_SECONDS, self._lanes.refresh, name)
