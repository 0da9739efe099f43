"""What the status and headers of an HTTP answer mean to a walk."""

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from services.workers.providers.protocol import KEPT_HEADERS, ProviderError

REQUEST_TIMEOUT = 408  # an answer, yet a timeout
TOO_MANY_REQUESTS = 429


def error_of_status(status: int, headers: Mapping[str, str], now: datetime) -> ProviderError | None:
    """Return the error that a status stands for, or None for a page."""
    if status < 400:
        return None
    wait = retry_after_seconds(headers.get("Retry-After", ""), now)
    if status == TOO_MANY_REQUESTS:
        return ProviderError("http_429", "the site asks for fewer requests", True, status, wait)
    if status >= 500:
        return ProviderError("http_5xx", f"the site answered {status}", True, status, wait)
    if status == REQUEST_TIMEOUT:
        return ProviderError("timeout", "the site gave up waiting for the request", True, status, wait)
    return ProviderError("http_4xx", f"the site answered {status}", False, status)


def retry_after_seconds(value: str, now: datetime) -> float | None:
    """Read a Retry-After header, seconds or an HTTP date; None for junk, 0 for a time that has passed."""
    text = value.strip()
    if text.isascii() and text.isdigit() and len(text) <= 9:
        return float(text)
    try:
        when = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return max((when - now).total_seconds(), 0.0)


def kept_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers worth keeping, names in lower case."""
    return {name.lower(): value for name, value in headers.items() if name.lower() in KEPT_HEADERS}
