"""The figures of a crawl, out of what Scrapy counted. Pure.

A request goes from the scheduler through the downloader middlewares into the downloader. Some never get there: a
middleware answers or drops them. What the downloader fetched came back as a response, or failed below HTTP.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from services.workers.spiders.frames import REACHED

OK_BELOW = 400  # status codes from there on are failures
_STATUS = re.compile(r"downloader/response_status_count/(\d{3})", re.ASCII)
REQUESTED, DEQUEUED = "downloader/request_count", "scheduler/dequeued"


class Figures(NamedTuple):
    """How many of each."""

    ok: int
    failed: int
    errors: int
    into_downloader: int
    answered_before_fetch: int
    retried: int


def figures_of(stats: Mapping[str, Any]) -> Figures:
    """Return the figures of a crawl; what Scrapy has not counted (yet) has not happened."""
    codes = list(_codes(stats))
    passed = _count(stats, REQUESTED)  # by all middlewares that stand before the counting one
    reached = _count(stats, REACHED) if REACHED in stats else passed
    asked = max(passed, _count(stats, DEQUEUED) + _count(stats, "robotstxt/request_count"))
    return Figures(
        ok=sum(count for code, count in codes if code < OK_BELOW),
        failed=sum(count for code, count in codes if code >= OK_BELOW),
        errors=_count(stats, "downloader/exception_count"),
        into_downloader=reached,
        answered_before_fetch=max(0, asked - reached),
        retried=_count(stats, "retry/count"),
    )


def _codes(stats: Mapping[str, Any]) -> Iterator[tuple[int, int]]:
    for name in stats:
        if found := _STATUS.fullmatch(name):
            yield int(found[1]), _count(stats, name)


def _count(stats: Mapping[str, Any], name: str) -> int:
    value = stats.get(name, 0)
    return int(value) if isinstance(value, int | float) else 0
