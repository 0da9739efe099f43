"""Tells the ledger what came of deliveries, in records of bounded size, until the broker has them."""

import asyncio
import logging
from collections.abc import Mapping, Sequence

from services.ledger.commands import SettleDeliveries
from services.ledger.reports import DeliveryResult
from services.runtime.commander import Asker
from services.runtime.errors import NotDelivered
from services.runtime.ids import uuid7
from services.writers.sealed import Sealing

RESULTS_PER_RECORD = 100

log = logging.getLogger(__name__)


class Telling:
    """Speaks for one writer."""

    def __init__(self, ledger: Asker, writer_id: str, sealing: Sealing) -> None:
        self._ledger = ledger
        self._writer_id = writer_id
        self._sealing = sealing

    async def tell_all(self, answers: Mapping[int, Sequence[DeliveryResult]]) -> None:
        """Return when the broker has every answer, each on the ledger partition that it is for."""
        await asyncio.gather(
            *(
                self._tell(partition, tuple(results[start : start + RESULTS_PER_RECORD]))
                for partition, results in answers.items()
                for start in range(0, len(results), RESULTS_PER_RECORD)
            )
        )

    async def _tell(self, partition: int, results: tuple[DeliveryResult, ...]) -> None:
        settle = SettleDeliveries(
            command_id=uuid7(),
            actor=f"writer:{self._writer_id}",
            results=tuple(await self._sealing.sealed(results)),
            writer_id=self._writer_id,
        )
        while True:
            try:
                return await self._ledger.tell(partition, settle)
            except NotDelivered as error:
                log.warning("answers not delivered, telling again", extra={"reason": str(error)})
