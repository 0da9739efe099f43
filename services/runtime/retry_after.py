"""How long an answer asks its caller to wait."""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

LONGEST_SECONDS = 1e9  # of more digits there is nothing to tell


def retry_after_seconds(value: str, now: datetime) -> float | None:
    """Read a Retry-After header, seconds or an HTTP date; None for junk, 0 for a time that has passed."""
    text = value.strip()
    if text.isascii() and text.isdigit():
        return float(text) if len(text) <= 9 else LONGEST_SECONDS
    try:
        when = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return max((when - now).total_seconds(), 0.0)
