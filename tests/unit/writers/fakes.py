"""A delivery, and a destination in memory."""

from collections.abc import Sequence
from typing import Any

import msgspec

from services.ledger.reports import DeliveryResult
from services.ledger.tasks import Delivery
from services.writers.writer import DestinationDown, written


def delivery(number: int = 1, **values: Any) -> Delivery:
    """Return a delivery of job `job-<number>`."""
    plain = Delivery(
        org_id="org-1",
        job_id=f"job-{number}",
        partition=3,
        destination_id="internal",
        kind="postgres",
        generation=1,
        try_number=1,
        result_ref=f"org-1/job-{number}/1/page-1",
        content_type="text/html",
        extraction_ref=f"org-1/job-{number}/1/extraction-2.json",
        domain="shop.example",
        schema_id="product",
        data_type="product",
        items=1,
        quality_completeness=1.0,
        quality_validation=0.5,
        quality_composite=0.8,
        latency_ms=120,
    )
    return msgspec.structs.replace(plain, **values)


class MemoryWriter:
    """Writes to a list; is down for as many writes as asked."""

    def __init__(self, down: int = 0) -> None:
        self.down = down
        self.batches: list[list[Delivery]] = []

    async def write(self, deliveries: Sequence[Delivery]) -> list[DeliveryResult]:
        """Write a batch."""
        if self.down:
            self.down -= 1
            raise DestinationDown("connection refused")
        self.batches.append(list(deliveries))
        return [written(each) for each in deliveries]

    async def close(self) -> None:
        """Hold nothing."""
