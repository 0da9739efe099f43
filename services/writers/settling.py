"""Writes a batch and tells the ledger what came of it: the ACK leaves only after the destination's commit."""

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Sequence

from services.ledger.reports import DeliveryResult
from services.ledger.tasks import Delivery
from services.runtime.health import Progress
from services.runtime.metrics import level, timed
from services.runtime.tracing import clock
from services.writers.counting import counted
from services.writers.telling import Telling
from services.writers.writer import DestinationDown, Writer

FIRST_PAUSE_SECONDS = 0.2
LONGEST_PAUSE_SECONDS = 5.0

log = logging.getLogger(__name__)


class Settling:
    """Delivers batches through one writer."""

    def __init__(self, writer: Writer, telling: Telling, progress: Progress, *, kind: str) -> None:
        self._writer = writer
        self._telling = telling
        self._progress = progress
        self._kind = kind
        self._open = False  # the circuit: nothing else is tried while the destination is down

    async def deliver(self, deliveries: Sequence[Delivery]) -> None:
        """Return when the broker has the answer for every delivery; a destination that is down is waited for."""
        began = clock()
        results = await self._written(deliveries)
        answers: defaultdict[int, list[DeliveryResult]] = defaultdict(list)
        for delivery, result in zip(deliveries, results, strict=True):
            answers[delivery.partition].append(result)
        counted(results, self._kind, began)
        await self._telling.tell_all(answers)

    async def _written(self, deliveries: Sequence[Delivery]) -> list[DeliveryResult]:
        pause = FIRST_PAUSE_SECONDS
        while True:
            started = time.monotonic()
            try:
                results = await self._writer.write(deliveries)
            except DestinationDown as error:
                self._circuit(open_for=str(error))
                self._progress.stalled(f"{self._kind} is down: {error}")
                await asyncio.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE_SECONDS)
            else:
                self._circuit(open_for="")
                self._progress.beat()
                timed("delivery_batch_seconds", time.monotonic() - started, destination_kind=self._kind)
                return results

    def _circuit(self, *, open_for: str) -> None:
        """While a destination is down one batch at a time is tried there, ever more rarely; say when that begins."""
        is_open = bool(open_for)
        level("circuit_open", is_open, destination_kind=self._kind)
        if is_open and not self._open:
            log.warning("destination down, its circuit is open", extra={"kind": self._kind, "reason": open_for})
        elif self._open and not is_open:
            log.warning("destination works again, its circuit is closed", extra={"kind": self._kind})
        self._open = is_open
