"""The wall clock, as events record it."""

import time


def now_micros() -> int:
    """Return the microseconds since 1970-01-01 UTC."""
    return time.time_ns() // 1000
