"""Statistics of all spiders of a run as one dump, under the names that Scrapy and the project gave them."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

LEAST, MOST = ("start_time", "memusage/startup"), ("finish_time", "memusage/max", "elapsed_time_seconds")
MAXIMA = ("max", "depth_max")  # what names of maxima end with


def merged(dumps: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Add up counters; of times, maxima and words keep what is true of the whole."""
    whole: dict[str, Any] = {}
    for dump in dumps:
        for name, value in dump.items():
            whole[name] = _both(name, whole[name], value) if name in whole else value
    return {str(name): _plain(value) for name, value in whole.items()}


def _both(name: str, one: Any, other: Any) -> Any:
    try:
        if name in LEAST:
            return min(one, other)
        if name in MOST or name.endswith(MAXIMA):
            return max(one, other)
    except TypeError:
        return other
    if _is_number(one) and _is_number(other):
        return one + other
    if isinstance(one, str) and isinstance(other, str):
        return one if other in one.split(", ") else f"{one}, {other}"
    return other


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).isoformat().replace("+00:00", "Z")
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(each) for each in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
