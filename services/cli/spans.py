"""Times as the API writes them, and the time between two of them as people read it."""

import math
from collections.abc import Sequence
from datetime import datetime


def milliseconds_between(earlier: str, later: str) -> float:
    """Return the time from one ISO 8601 moment to another."""
    return (datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).total_seconds() * 1000


def span(milliseconds: float) -> str:
    """Write a duration with the unit that fits it."""
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms"
    if milliseconds < 60_000:
        return f"{milliseconds / 1000:.2f} s"
    minutes, seconds = divmod(round(milliseconds / 1000), 60)
    if minutes < 60:
        return f"{minutes} min {seconds:02} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours < 48 else f"{hours // 24} d {hours % 24:02} h"


def clock(moment: str) -> str:
    """Write the time of day of a moment, UTC."""
    return datetime.fromisoformat(moment).strftime("%H:%M:%S.%f")[:-3]


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest of the values that at least this share of them does not exceed; 0 for no values."""
    if not values:
        return 0.0
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]
