"""What a bulk-writer is: it writes deliveries to one kind of destination and says what came of each."""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from schemas.private import MESSAGE_CHARS, private_bytes
from services.ledger.reports import DeliveryResult
from services.ledger.tasks import Delivery


class DestinationDown(Exception):
    """The destination, or the store that holds the extractions, does not work now; the batch is to be tried again."""


class Extractions(Protocol):
    """Where extractions are kept; `services.runtime.blob.BlobStore` is one."""

    async def get(self, key: str) -> bytes:
        """Return a body; raise BlobMissing when there is none, another BlobFault when the store does not say."""


class ManyExtractions(Protocol):
    """Where many are read at once; `services.runtime.blob.BlobStore` is one."""

    async def get_each(self, keys: Sequence[str]) -> list[bytes | Exception]:
        """Return bodies in the order of their keys, or what is wrong with them: a BlobFault, or a ValueError."""


class Bodies(ManyExtractions, Protocol):
    """Where every body of a job is kept; `services.runtime.blob.BlobStore` is one."""

    async def delete_job(self, org_id: str, job_id: str, spared: str = "") -> None:
        """Remove the bodies of a job but those with such names; raise BlobFault unless the store says they are gone."""


class Writer(Protocol):
    """Writes to one kind of destination."""

    async def write(self, deliveries: Sequence[Delivery]) -> list[DeliveryResult]:
        """Return one result per delivery, in their order, once what succeeded is durable; else DestinationDown."""

    async def close(self) -> None:
        """Let go of the destination."""


def written(delivery: Delivery, rows: int = 1, place: str = "") -> DeliveryResult:
    """Say that the destination holds a delivery, and where; no place: the destination itself."""
    return DeliveryResult(
        org_id=delivery.org_id,
        job_id=delivery.job_id,
        destination_id=delivery.destination_id,
        generation=delivery.generation,
        try_number=delivery.try_number,
        rows=rows,
        place=place,
    )


def failed(delivery: Delivery, error_type: str, message: str) -> DeliveryResult:
    """Say that a delivery was not written now, and is to be tried again."""
    private = private_bytes({"message": message[:MESSAGE_CHARS]})
    return msgspec.structs.replace(written(delivery, rows=0), error_type=error_type, private=private)


def refused(delivery: Delivery, error_type: str, message: str, *, closed: bool = False) -> DeliveryResult:
    """Say that a delivery cannot be written, however often it is tried; closed: its destination takes nothing."""
    return msgspec.structs.replace(failed(delivery, error_type, message), retryable=False, closed=closed)
