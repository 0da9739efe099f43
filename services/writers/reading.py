"""Reads the extractions of a batch from the blob store and makes rows of them."""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from services.ledger.reports import DeliveryResult
from services.ledger.tasks import Delivery
from services.runtime.errors import BlobFault, BlobMissing
from services.runtime.item_manifest import Manifest, is_manifest, manifest_of
from services.runtime.item_reading import Chunks
from services.writers.chunked import Chunked
from services.writers.rows import Row, row_of
from services.writers.writer import DestinationDown, ManyExtractions, refused

Made = TypeVar("Made")


class ItemBodies(ManyExtractions, Chunks, Protocol):
    """Where extractions and chunks of items are; `services.runtime.blob.BlobStore` is one."""


class Reading:
    """Reads the extractions of many deliveries at once."""

    def __init__(self, extractions: ManyExtractions) -> None:
        self._extractions = extractions

    async def rows_of(self, deliveries: Sequence[Delivery]) -> list[Row | DeliveryResult]:
        """Return a row for each delivery, or its refusal; DestinationDown when the blob store does not answer."""
        return await _read(self._extractions, deliveries, row_of)


class ItemReading:
    """Does the same for whoever writes items one by one: those that lie in chunks are not read yet."""

    def __init__(self, bodies: ItemBodies) -> None:
        self._bodies = bodies

    async def rows_of(self, deliveries: Sequence[Delivery]) -> list[Row | Chunked | DeliveryResult]:
        """Return what is to be written of each delivery, or its refusal; raises as Reading does."""
        return await _read(self._bodies, deliveries, self._made)

    def _made(self, delivery: Delivery, found: bytes) -> Row | Chunked:
        if is_manifest(delivery.extraction_ref):
            return Chunked(delivery, manifest_of(found), self._bodies)
        if not delivery.extraction_ref and not delivery.result_ref:
            return Chunked(delivery, Manifest(()), self._bodies)  # nothing came of the job that could be an item
        return row_of(delivery, found)


async def _read(
    extractions: ManyExtractions, deliveries: Sequence[Delivery], make: Callable[[Delivery, bytes], Made]
) -> list[Made | DeliveryResult]:
    read = iter(await extractions.get_each([each.extraction_ref for each in deliveries if each.extraction_ref]))
    return [_made(each, next(read) if each.extraction_ref else b"", make) for each in deliveries]


def _made(
    delivery: Delivery, found: bytes | Exception, make: Callable[[Delivery, bytes], Made]
) -> Made | DeliveryResult:
    match found:
        case BlobMissing():
            return refused(delivery, "extraction_missing", str(found))
        case BlobFault():
            raise DestinationDown(f"the blob store failed: {found}") from found
        case Exception():  # the reference is no key of a blob
            return refused(delivery, "extraction_unreadable", str(found))
    try:
        return make(delivery, found)
    except ValueError as error:
        return refused(delivery, "extraction_unreadable", str(error))
