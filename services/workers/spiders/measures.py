"""Counts what is told of runs of spiders."""

from services.ledger.reports import Chunk, Extracted, Failed, Logged
from services.runtime.metrics import count
from services.workers.attempt import Report


def measure(told: Report) -> None:
    """Count a report that the broker has."""
    for part in told.items:
        match part:
            case Chunk():
                count("spider_items", part.rows)
                count("spider_stored_bytes", part.rows_bytes, what="items")
            case Logged():
                count("spider_lines", part.lines)
                count("spider_stored_bytes", part.lines_bytes, what="lines")
    match told.outcome:
        case Extracted():
            count("spider_runs", outcome="finished")
        case Failed() as failed:
            count("spider_runs", outcome=failed.error_type)
