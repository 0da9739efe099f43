"""Writes a batch and tells the ledger what came of it: the ACK leaves only after the destination's commit."""

import asyncio
import logging
import time
from collections import defaultdict
from collections.abc import Sequence

from services.ledger.messages import Delivery, DeliveryResult, SettleDeliveries
from services.runtime.commander import Asker
from services.runtime.errors import NotDelivered
from services.runtime.health import Progress
from services.runtime.ids import uuid7
from services.runtime.metrics import count, timed
from services.writers.writer import DestinationDown, Writer

FIRST_PAUSE_SECONDS = 0.2
LONGEST_PAUSE_SECONDS = 5.0
RESULTS_PER_RECORD = 100

log = logging.getLogger(__name__)


class Settling:
    """Delivers batches through one writer."""

    def __init__(self, writer: Writer, ledger: Asker, progress: Progress, *, kind: str, writer_id: str) -> None:
        self._writer = writer
        self._ledger = ledger
        self._progress = progress
        self._kind = kind
        self._writer_id = writer_id

    async def deliver(self, deliveries: Sequence[Delivery]) -> None:
        """Return when the broker has the answer for every delivery; a destination that is down is waited for."""
        results = await self._written(deliveries)
        answers: defaultdict[int, list[DeliveryResult]] = defaultdict(list)
        for delivery, result in zip(deliveries, results, strict=True):
            answers[delivery.partition].append(result)
            count("deliveries_written", destination_kind=self._kind, outcome="failed" if result.error_type else "acked")
        count("delivery_rows_written", sum(result.rows for result in results), destination_kind=self._kind)
        await asyncio.gather(
            *(
                self._tell(partition, tuple(found[start : start + RESULTS_PER_RECORD]))
                for partition, found in answers.items()
                for start in range(0, len(found), RESULTS_PER_RECORD)
            )
        )

    async def _written(self, deliveries: Sequence[Delivery]) -> list[DeliveryResult]:
        pause = FIRST_PAUSE_SECONDS
        while True:
            started = time.monotonic()
            try:
                results = await self._writer.write(deliveries)
            except DestinationDown as error:
                self._progress.stalled(f"{self._kind} is down: {error}")
                log.warning("destination down, trying again", extra={"kind": self._kind, "reason": str(error)})
                await asyncio.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE_SECONDS)
            else:
                self._progress.beat()
                timed("delivery_batch_seconds", time.monotonic() - started, destination_kind=self._kind)
                return results

    async def _tell(self, partition: int, results: tuple[DeliveryResult, ...]) -> None:
        settle = SettleDeliveries(
            command_id=uuid7(), actor=f"writer:{self._writer_id}", results=results, writer_id=self._writer_id
        )
        while True:
            try:
                return await self._ledger.tell(partition, settle)
            except NotDelivered as error:
                log.warning("answers not delivered, telling again", extra={"reason": str(error)})
