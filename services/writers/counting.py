"""What the metrics say of deliveries, whatever kind of destination they went to."""

from collections.abc import Sequence

from services.ledger.reports import DeliveryResult
from services.runtime.metrics import count


def counted(results: Sequence[DeliveryResult], kind: str) -> None:
    """Count what came of deliveries to stores, and the rows that were written."""
    for result in results:
        counted_one(result, kind)
    count("delivery_rows_written", sum(result.rows for result in results), destination_kind=kind)


def counted_one(result: DeliveryResult, kind: str) -> None:
    """Count what came of a delivery."""
    count("deliveries_written", destination_kind=kind, outcome="failed" if result.error_type else "acked")
