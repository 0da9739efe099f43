"""Collects deliveries of many records into batches, by size or by time."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from services.ledger.tasks import Delivery, DeliveryBatch
from services.runtime.health import Progress

PULSE_SECONDS = 2.0  # of the readiness while nothing comes


@dataclass(frozen=True, slots=True)
class _Taken:
    deliveries: Sequence[Delivery]
    done: Callable[[], None]


class Batcher:
    """Hands batches to `deliver`, one after the other; a record is done when `deliver` has returned."""

    def __init__(
        self,
        deliver: Callable[[list[Delivery]], Awaitable[None]],
        progress: Progress,
        *,
        max_rows: int,
        max_seconds: float,
    ) -> None:
        self._deliver = deliver
        self._progress = progress
        self._max_rows = max_rows
        self._max_seconds = max_seconds
        self._waiting: list[_Taken] = []
        self._rows = 0
        self._first_at = 0.0
        self._changed = asyncio.Event()
        self._room = asyncio.Event()

    async def add(self, record: DeliveryBatch, done: Callable[[], None]) -> None:
        """Add a record's deliveries; wait as long as a whole batch is waiting already."""
        while self._rows >= self._max_rows:
            self._room.clear()
            await self._room.wait()
        if not self._waiting:
            self._first_at = time.monotonic()
        self._waiting.append(_Taken(record.deliveries, done))
        self._rows += len(record.deliveries)
        self._changed.set()

    async def run(self) -> None:
        """Deliver until cancelled; an error of `deliver` ends it."""
        while True:
            self._progress.beat(waiting=self._rows)
            if not await self._full():
                continue
            batch, self._waiting, self._rows = self._waiting, [], 0
            self._room.set()
            await self._deliver([delivery for taken in batch for delivery in taken.deliveries])
            for taken in batch:
                taken.done()

    async def _full(self) -> bool:
        """Wait for a batch; False when nothing has come for a while."""
        while self._rows < self._max_rows:
            left = self._first_at + self._max_seconds - time.monotonic() if self._waiting else PULSE_SECONDS
            if left <= 0:
                break
            self._changed.clear()
            try:
                async with asyncio.timeout(left):
                    await self._changed.wait()
            except TimeoutError:
                break
        return bool(self._waiting)
