"""Collects deliveries of many records into batches, orgs in turn, by size or by time.

What waits stands in a line for each org, and a batch takes of all lines in turn: what one org has waiting delays no
other. After an outage the topic begins with first tries that the ledger counts as unanswered already, and sends again
so many at a time. Of an org that has a whole batch waiting, these are left to it: what is fresh is soon come to, and
the rest drains as the ledger has it.
"""

import asyncio
import time
from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable

from services.ledger.policy import SECOND
from services.ledger.tasks import Delivery, DeliveryBatch
from services.runtime.health import Progress
from services.runtime.time import now_micros
from services.writers.flights import Record

PULSE_SECONDS = 2.0  # of the readiness while nothing comes
HELD_BATCHES = 4  # in memory; beyond, no record is taken


class Batcher:
    """Hands batches to `deliver`, one after the other; a record is done when all that is in it was delivered or left.

    `unanswered_seconds`: after which the ledger sends a first try again; `now` in microseconds UTC.
    """

    def __init__(
        self,
        deliver: Callable[[list[Delivery]], Awaitable[None]],
        progress: Progress,
        *,
        max_rows: int,
        max_seconds: float,
        unanswered_seconds: float,
        now: Callable[[], int] = now_micros,
    ) -> None:
        self._deliver = deliver
        self._progress = progress
        self._max_rows = max_rows
        self._max_seconds = max_seconds
        self._unanswered = int(unanswered_seconds * SECOND)
        self._now = now
        self._lines: OrderedDict[str, deque[tuple[Delivery, Record]]] = OrderedDict()  # by org, the next one first
        self._rows = 0
        self._first_at = 0.0
        self._changed = asyncio.Event()
        self._room = asyncio.Event()

    async def add(self, record: DeliveryBatch, done: Callable[[], None]) -> None:
        """Add a record's deliveries; wait as long as too many are held already."""
        while self._rows >= HELD_BATCHES * self._max_rows:
            self._room.clear()
            await self._room.wait()
        if not record.deliveries:
            done()
        taken = Record(len(record.deliveries), done)
        asked_before = self._now() - self._unanswered
        for delivery in record.deliveries:
            self._put(delivery, taken, asked_before)
        self._changed.set()

    def _put(self, delivery: Delivery, record: Record, asked_before: int) -> None:
        line = self._lines.get(delivery.org_id)
        unanswered = delivery.try_number == 1 and 0 < delivery.requested_at < asked_before
        if line is not None and len(line) >= self._max_rows and unanswered:
            record.one_less()
            return
        if not self._rows:
            self._first_at = time.monotonic()
        if line is None:
            line = self._lines[delivery.org_id] = deque()
        line.append((delivery, record))
        self._rows += 1

    async def run(self) -> None:
        """Deliver until cancelled; an error of `deliver` ends it."""
        while True:
            self._progress.beat(waiting=self._rows)
            if not await self._full():
                continue
            batch = self._next()
            await self._deliver([delivery for delivery, _ in batch])
            for _, record in batch:
                record.one_less()

    def _next(self) -> list[tuple[Delivery, Record]]:
        """Take a batch, of all orgs in turn."""
        batch: list[tuple[Delivery, Record]] = []
        while self._lines and len(batch) < self._max_rows:
            org_id, line = self._lines.popitem(last=False)
            batch.append(line.popleft())
            if line:
                self._lines[org_id] = line
        self._rows -= len(batch)
        self._first_at = time.monotonic()
        self._room.set()
        return batch

    async def _full(self) -> bool:
        """Wait for a batch; False when nothing has come for a while."""
        while self._rows < self._max_rows:
            left = self._first_at + self._max_seconds - time.monotonic() if self._rows else PULSE_SECONDS
            if left <= 0:
                break
            self._changed.clear()
            try:
                async with asyncio.timeout(left):
                    await self._changed.wait()
            except TimeoutError:
                break
        return bool(self._rows)
