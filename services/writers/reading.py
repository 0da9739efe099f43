"""Reads the extractions of a batch from the blob store and makes rows of them."""

import asyncio
from collections.abc import Sequence

from services.ledger.reports import DeliveryResult
from services.ledger.tasks import Delivery
from services.runtime.errors import BlobFault, BlobMissing
from services.writers.rows import Row, row_of
from services.writers.writer import DestinationDown, Extractions, refused

READS_AT_ONCE = 16


class Reading:
    """Reads a bounded number of extractions at once."""

    def __init__(self, extractions: Extractions) -> None:
        self._extractions = extractions
        self._reads = asyncio.Semaphore(READS_AT_ONCE)

    async def rows_of(self, deliveries: Sequence[Delivery]) -> list[Row | DeliveryResult]:
        """Return a row for each delivery, or its refusal; DestinationDown when the blob store does not answer."""
        return await asyncio.gather(*map(self._read, deliveries))

    async def _read(self, delivery: Delivery) -> Row | DeliveryResult:
        try:
            async with self._reads:
                data = await self._extractions.get(delivery.extraction_ref) if delivery.extraction_ref else b""
            return row_of(delivery, data)
        except BlobMissing as error:
            return refused(delivery, "extraction_missing", str(error))
        except ValueError as error:  # Unreadable, or a reference that is no key of a blob
            return refused(delivery, "extraction_unreadable", str(error))
        except BlobFault as error:
            raise DestinationDown(f"the blob store failed: {error}") from error
