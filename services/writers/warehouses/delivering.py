"""Writes batches of deliveries to their destinations and says what came of each; no fault of one is another's."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Mapping, Sequence

import psycopg
import psycopg_pool

from services.ledger.erasure import destination_of
from services.ledger.reports import DeliveryResult
from services.ledger.tasks import Delivery
from services.runtime.errors import Unsealable
from services.runtime.metrics import level, timed
from services.runtime.tracing import clock
from services.writers.chunked import Chunked
from services.writers.counting import counted
from services.writers.reading import ItemReading
from services.writers.rows import Row
from services.writers.warehouses.circuits import Circuits
from services.writers.warehouses.kinds import DriverMissing, Kind, SettingsFault
from services.writers.warehouses.pacing import Pace
from services.writers.warehouses.shelf import Shelf
from services.writers.warehouses.stored import Destinations, Name, StoredDestination
from services.writers.warehouses.table import Table
from services.writers.warehouses.warehouse import Refusal
from services.writers.writer import DestinationDown, failed, refused

UNAVAILABLE, REFUSED = "destination_unavailable", "destination_refused"
CLOSED = "the destination was deleted or disabled"
PAUSED = "it failed several times in a row, and is asked again in a moment"
log = logging.getLogger(__name__)


def name_of(delivery: Delivery) -> Name:
    """Return the destination of a delivery, also of the erasure of a deleted job there."""
    return delivery.org_id, destination_of(delivery.destination_id)


class Delivering:
    """Delivers to the destinations of one kind, of all orgs."""

    def __init__(
        self, kind: Kind, destinations: Destinations, reading: ItemReading, shelf: Shelf, circuits: Circuits, pace: Pace
    ) -> None:
        self._kind = kind
        self._destinations = destinations
        self._reading = reading
        self._shelf = shelf
        self._circuits = circuits
        self._pace = pace

    async def deliver(self, name: Name, deliveries: Sequence[Delivery]) -> list[DeliveryResult]:
        """Deliver to one destination; return a result for each delivery, whatever goes wrong."""
        began, started = clock(), time.monotonic()
        results = await self._delivered(name, deliveries)
        timed("delivery_batch_seconds", time.monotonic() - started, destination_kind=self._kind.name)
        counted(results, self._kind.name, began)
        level("destinations_unavailable", self._circuits.open, destination_kind=self._kind.name)
        return results

    async def _delivered(self, name: Name, deliveries: Sequence[Delivery]) -> list[DeliveryResult]:
        try:
            stored = await self._destinations.find(name)
            if stored is None or not stored.enabled or stored.kind != self._kind.name:
                self._circuits.succeeded(name)
                await self._shelf.drop(name)
                return [refused(each, "destination_closed", CLOSED, closed=True) for each in deliveries]
            if not self._circuits.may(name):
                return _failed(deliveries, UNAVAILABLE, PAUSED)
            rows = await self._reading.rows_of([each for each in deliveries if not each.erase])
        except (psycopg.Error, psycopg_pool.PoolTimeout, DestinationDown) as error:
            log.warning("nothing delivered: a store is away", extra={"reason": type(error).__name__})
            return _failed(deliveries, "store_unavailable", "the blob store or Postgres did not answer")
        return await self._tried(name, stored, deliveries, rows)

    async def _tried(
        self,
        name: Name,
        stored: StoredDestination,
        deliveries: Sequence[Delivery],
        rows: Sequence[Row | Chunked | DeliveryResult],
    ) -> list[DeliveryResult]:
        table, blocks = None, 0
        results: dict[int, DeliveryResult] = {}  # by place in `deliveries`
        try:
            table = await self._shelf.take(name, stored)
            blocks = table.blocks
            async with asyncio.timeout(self._kind.write_seconds) as giving_up:
                async for told in _written(table, deliveries, rows):
                    results |= told
                    giving_up.reschedule(asyncio.get_running_loop().time() + self._kind.write_seconds)
        except Exception as error:  # a driver's bug is one destination's matter, not that of all orgs
            self._circuits.failed(name)
            await self._shelf.drop(name)
            error_type, message = said_of(error, self._kind)
            extra = {"org_id": name[0], "destination_id": name[1], "reason": type(error).__name__}
            log.warning("a destination does not take what it is given", extra=extra)
            return [results.get(at) or failed(each, error_type, message) for at, each in enumerate(deliveries)]
        finally:
            self._pace.spent(name, table.blocks - blocks if table else 0)
        self._circuits.succeeded(name)
        self._shelf.give_back(name)
        return [results[at] for at in range(len(deliveries))]


async def _written(
    table: Table, deliveries: Sequence[Delivery], rows: Sequence[Row | Chunked | DeliveryResult]
) -> AsyncIterator[Mapping[int, DeliveryResult]]:
    """Write and erase; tell as soon as it is known what came of each delivery, by its place."""
    places = [at for at, each in enumerate(deliveries) if not each.erase]
    async for told in table.write(rows):
        yield {places[at]: result for at, result in told.items()}
    if erasures := {at: each for at, each in enumerate(deliveries) if each.erase}:
        yield dict(zip(erasures, await table.erase(list(erasures.values())), strict=True))


def said_of(error: Exception, kind: Kind) -> tuple[str, str]:
    """Return the type and the message of a failure; of an error that nobody has foreseen its text may quote data."""
    match error:
        case Refusal() | SettingsFault() | Unsealable():
            return REFUSED, str(error)
        case DestinationDown() | DriverMissing():
            return UNAVAILABLE, str(error)
        case TimeoutError():
            return UNAVAILABLE, f"it took longer than {kind.write_seconds:g} s"
        case _:
            return UNAVAILABLE, f"the writer of {kind.name} failed: {type(error).__name__}"


def _failed(deliveries: Sequence[Delivery], error_type: str, message: str) -> list[DeliveryResult]:
    return [failed(each, error_type, message) for each in deliveries]
