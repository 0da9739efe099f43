"""What the status and headers of an HTTP answer mean to a walk."""

from collections.abc import Mapping
from datetime import datetime

from yarl import URL

from services.runtime.retry_after import retry_after_seconds
from services.workers.providers.protocol import KEPT_HEADERS, ProviderError

REQUEST_TIMEOUT = 408  # an answer, yet a timeout
TOO_MANY_REQUESTS = 429


def error_of_status(status: int, headers: Mapping[str, str], now: datetime) -> ProviderError | None:
    """Return the error that a status stands for, or None for a page."""
    if status < 400:
        return None
    wait = retry_after_seconds(headers.get("Retry-After", ""), now)
    if status == TOO_MANY_REQUESTS:
        # without a time that can be read it is 0: what is asked for is to come back, but not all at once
        return ProviderError("http_429", "the site asks for fewer requests", True, status, wait or 0.0)
    if status >= 500:
        return ProviderError("http_5xx", f"the site answered {status}", True, status, wait)
    if status == REQUEST_TIMEOUT:
        return ProviderError("timeout", "the site gave up waiting for the request", True, status, wait)
    return ProviderError("http_4xx", f"the site answered {status}", False, status)


def kept_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers worth keeping, names in lower case."""
    return {name.lower(): value for name, value in headers.items() if name.lower() in KEPT_HEADERS}


def web_url(text: str) -> URL:
    """Read the URL of a page, without its fragment; ValueError where it is none."""
    url = URL(text)
    if url.scheme not in ("http", "https") or not url.host:
        raise ValueError(f"{text[:200]!r} is not an http or https URL with a host")
    return url.with_fragment(None)
