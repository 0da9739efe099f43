"""The work that every writer is given: deliveries of so many items, with their extractions in memory."""

import json
from collections.abc import Sequence

from services.ledger.tasks import Delivery

FIELDS = ("title", "url", "price", "stock", "sold", "brand", "rating", "seen")


class Work:
    """Batches of deliveries, and a blob store that has what was extracted for them."""

    def __init__(self, kind: str, deliveries: int, items: int, batch: int) -> None:
        made = [
            {name: f"{name} {number}" for name in FIELDS}
            | {"price": number + 0.25, "stock": number, "sold": bool(number % 2)}
            for number in range(items)
        ]
        self._document = json.dumps({"normalized": {"items": made}}).encode()
        self.deliveries = deliveries
        self.rows = deliveries * items
        listed = [delivery(kind, number) for number in range(deliveries)]
        self.batches = [listed[start : start + batch] for start in range(0, deliveries, batch)]

    async def get_each(self, keys: Sequence[str]) -> list[bytes | Exception]:
        """Return extractions: all are alike."""
        return [self._document for _ in keys]

    async def first(self, key: str, length: int) -> bytes:
        """Return the beginning of one; no job here has its items in chunks."""
        return self._document[:length]

    async def delete_job(self, org_id: str, job_id: str, spared: str = "") -> None:
        """Keep everything: nothing is erased here."""


def delivery(kind: str, number: int) -> Delivery:
    """Return the delivery of one job."""
    return Delivery(
        org_id="org-1",
        job_id=f"job-{number:06}",
        partition=0,
        destination_id="own",
        kind=kind,
        generation=1,
        try_number=1,
        result_ref=f"org-1/job-{number:06}/1/page-1",
        content_type="text/html",
        extraction_ref=f"org-1/job-{number:06}/1/extraction-2.json",
        domain="shop.example",
        schema_id="product",
        data_type="product",
        submitted_at=1_700_000_000_123_456 + number,
        extracted_at=1_700_000_001_123_456 + number,
    )
