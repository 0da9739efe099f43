"""From records of deliveries to answers: each destination has a lane, whose deliveries go out in batches, one by one.

A delivery that the ledger sends again while the first one waits joins it. One for which its lane has no room is left to
the ledger, which sends again what nobody answered: a destination that is slow fills its lane and delays no other.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

import msgspec

from services.ledger.reports import DeliveryResult
from services.ledger.tasks import Delivery, DeliveryBatch
from services.runtime.health import Progress
from services.writers.telling import Telling
from services.writers.warehouses.delivering import name_of
from services.writers.warehouses.kinds import Kind
from services.writers.warehouses.stored import Name

BATCHES_AT_ONCE = 64  # of different destinations
WAITING_PER_DESTINATION = 4  # batches
HELD = 50_000  # deliveries in memory; beyond, no record is taken
PULSE_SECONDS = 2.0  # of the readiness while nothing comes
Key = tuple[str, str, str, int]  # org, job, destination, generation
Deliver = Callable[[Name, Sequence[Delivery]], Awaitable[list[DeliveryResult]]]
Done = Callable[[], None]


@dataclass(slots=True)
class _Open:
    """A record, of which so many deliveries are not answered."""

    left: int
    done: Done


@dataclass(slots=True)
class _Parcel:
    """A delivery, with the records that it came in."""

    delivery: Delivery
    records: list[_Open]
    result: DeliveryResult | None = None


@dataclass(slots=True)
class _Lane:
    """What waits for one destination; it lives as long as something does."""

    waiting: list[_Parcel] = field(default_factory=list)
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
    ) -> None:
        self._kind = kind
        self._deliver = deliver
        self._tidy = tidy
        self._telling = telling
        self._progress = progress
        self._lanes: dict[Name, _Lane] = {}
        self._parcels: dict[Key, _Parcel] = {}
        self._answered: list[_Parcel] = []
        self._at_once = asyncio.Semaphore(BATCHES_AT_ONCE)
        self._answers = asyncio.Event()
        self._room = asyncio.Event()
        self._group: asyncio.Future[asyncio.TaskGroup] = asyncio.get_running_loop().create_future()

    async def add(self, batch: DeliveryBatch, done: Done) -> None:
        """Take a record; wait as long as too many deliveries are held already."""
        group = await asyncio.shield(self._group)
        while len(self._parcels) >= HELD:
            self._room.clear()
            await self._room.wait()
        if not batch.deliveries:
            done()
            return
        record = _Open(len(batch.deliveries), done)
        for delivery in batch.deliveries:
            self._take(delivery, record, group)

    async def run(self) -> None:
        """Deliver and answer until cancelled; an error ends it."""
        async with asyncio.TaskGroup() as group:
            self._group.set_result(group)
            while True:
                self._progress.beat(waiting=len(self._parcels), destinations=len(self._lanes))
                if self._answered:
                    await self._answer()
                    continue
                self._answers.clear()
                try:
                    async with asyncio.timeout(PULSE_SECONDS):
                        await self._answers.wait()
                except TimeoutError:
                    await self._tidy()

    def _take(self, delivery: Delivery, record: _Open, group: asyncio.TaskGroup) -> None:
        key = _key_of(delivery)
        if parcel := self._parcels.get(key):
            parcel.delivery = max(parcel.delivery, delivery, key=lambda each: each.try_number)
            parcel.records.append(record)
            return
        parcel = self._parcels[key] = _Parcel(delivery, [record])
        name = name_of(delivery)
        lane = self._lanes.get(name)
        if lane is None:
            lane = self._lanes[name] = _Lane()
            group.create_task(self._ship(name, lane))
        if len(lane.waiting) >= WAITING_PER_DESTINATION * self._kind.max_jobs:
            self._land(parcel)
            return
        lane.waiting.append(parcel)
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
            async with self._at_once:
                parcels, lane.waiting = lane.waiting[: self._kind.max_jobs], lane.waiting[self._kind.max_jobs :]
                results = await self._deliver(name, [each.delivery for each in parcels])
            for parcel, result in zip(parcels, results, strict=True):
                parcel.result = msgspec.structs.replace(result, try_number=parcel.delivery.try_number)
                self._land(parcel)
        del self._lanes[name]

    def _land(self, parcel: _Parcel) -> None:
        self._answered.append(parcel)
        self._answers.set()

    async def _answer(self) -> None:
        """Tell the ledger of all that has a result, then let records end."""
        answered, self._answered = self._answered, []
        answers: defaultdict[int, list[DeliveryResult]] = defaultdict(list)
        for parcel in answered:
            if parcel.result:
                answers[parcel.delivery.partition].append(parcel.result)
        await self._telling.tell_all(answers)
        for parcel in answered:
            del self._parcels[_key_of(parcel.delivery)]
            for record in parcel.records:
                record.left -= 1
                if not record.left:
                    record.done()
        self._room.set()


def _key_of(delivery: Delivery) -> Key:
    return delivery.org_id, delivery.job_id, delivery.destination_id, delivery.generation
