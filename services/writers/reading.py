"""Reads the extractions of a batch from the blob store and makes rows of them."""

from collections.abc import Sequence

from services.ledger.reports import DeliveryResult
from services.ledger.tasks import Delivery
from services.runtime.errors import BlobFault, BlobMissing
from services.writers.rows import Row, row_of
from services.writers.writer import DestinationDown, ManyExtractions, refused


class Reading:
    """Reads the extractions of many deliveries at once."""

    def __init__(self, extractions: ManyExtractions) -> None:
        self._extractions = extractions

    async def rows_of(self, deliveries: Sequence[Delivery]) -> list[Row | DeliveryResult]:
        """Return a row for each delivery, or its refusal; DestinationDown when the blob store does not answer."""
        read = iter(
            await self._extractions.get_each([each.extraction_ref for each in deliveries if each.extraction_ref])
        )
        return [_row(each, next(read) if each.extraction_ref else b"") for each in deliveries]


def _row(delivery: Delivery, found: bytes | Exception) -> Row | DeliveryResult:
    match found:
        case BlobMissing():
            return refused(delivery, "extraction_missing", str(found))
        case BlobFault():
            raise DestinationDown(f"the blob store failed: {found}") from found
        case Exception():  # the reference is no key of a blob
            return refused(delivery, "extraction_unreadable", str(found))
    try:
        return row_of(delivery, found)
    except ValueError as error:
        return refused(delivery, "extraction_unreadable", str(error))
