"""How times look in answers: ISO 8601, UTC, microseconds, Z."""

from datetime import UTC, datetime
from typing import Annotated

from msgspec import Meta

Timestamp = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]


def iso(moment: datetime) -> str:
    """Write a moment as 2026-01-31T12:00:00.000000Z."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def iso_or_none(moment: datetime | None) -> str | None:
    """Write a moment, or None where there was none."""
    return iso(moment) if moment else None
