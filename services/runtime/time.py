"""The clocks: of the wall, as events record it, and the one that only goes on."""

import time
from datetime import UTC, datetime


def now_micros() -> int:
    """Return the microseconds since 1970-01-01 UTC."""
    return time.time_ns() // 1000


def utc_now() -> datetime:
    """Return the time of the wall; not `datetime.now`, which no simulation can put another clock under."""
    return datetime.fromtimestamp(time.time(), UTC)


def monotonic() -> float:
    """Return the seconds of a clock that is never set.

    For defaults: one bound to `time.monotonic` itself stays with it where a test or the simulation puts another.
    """
    return time.monotonic()
