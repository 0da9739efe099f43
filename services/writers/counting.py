"""What metrics and spans say of deliveries, whatever kind of destination they went to."""

from collections.abc import Sequence

from services.ledger.reports import DeliveryResult
from services.runtime.metrics import count
from services.runtime.tracing import Attribute, Span, clock, span, traced


def counted(results: Sequence[DeliveryResult], kind: str, began: int = 0) -> None:
    """Count what came of deliveries to stores, and the rows that were written; they began then (microseconds UTC)."""
    for result in results:
        counted_one(result, kind, began)
    count("delivery_rows_written", sum(result.rows for result in results), destination_kind=kind)


def counted_one(result: DeliveryResult, kind: str, began: int = 0) -> None:
    """Count what came of a delivery, and tell of it as a span of its job."""
    count("deliveries_written", destination_kind=kind, outcome="failed" if result.error_type else "acked")
    if began and traced(result.job_id):
        told: dict[str, Attribute] = {
            "org_id": result.org_id,
            "destination_kind": kind,
            "destination_id": result.destination_id,
            "generation": result.generation,
            "try_number": result.try_number,
            "rows": result.rows,
            "error_type": result.error_type,
        }
        key = f"{result.destination_id}/{result.generation}/{result.try_number}"
        span(Span(result.job_id, "deliver", key, began, clock(), told, failed=bool(result.error_type)))
