"""How times look in answers: ISO 8601, UTC, microseconds, Z."""

from datetime import UTC, datetime
from typing import Annotated

from msgspec import Meta

Timestamp = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]


def iso(moment: datetime) -> str:
    """Write a moment as 2026-01-31T12:00:00.000000Z."""
    in_utc = moment if moment.tzinfo is UTC else moment.astimezone(UTC)
    return in_utc.isoformat(timespec="microseconds")[:-6] + "Z"  # in place of +00:00


def iso_or_none(moment: datetime | None) -> str | None:
    """Write a moment, or None where there was none."""
    return iso(moment) if moment else None
