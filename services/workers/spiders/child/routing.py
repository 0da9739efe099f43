"""Downloader middleware: requests that are marked, or all, are made by the worker through the unblocker.

The process knows neither the unblocker's address nor its key, and the worker counts what it routed.
"""

import asyncio
import itertools
from collections.abc import Callable
from threading import Lock
from typing import Any, Self

from scrapy.crawler import Crawler
from scrapy.http import Headers, Request, Response
from scrapy.responsetypes import responsetypes
from scrapy.utils.defer import maybe_deferred_to_future
from twisted.internet.defer import Deferred, DeferredSemaphore
from twisted.internet.error import ConnectionRefusedError as Refused

from services.workers.spiders.child.pipe import Pipe
from services.workers.spiders.frames import MOST_ROUTED, REACHED, RoutedAnswer, RoutedRequest

MARK = "unblock"  # in the meta of a request: true
SCHEMES = ("http://", "https://")


class Routes:
    """Requests that wait for the worker's answer."""

    def __init__(self, pipe: Pipe) -> None:
        self._pipe = pipe
        self._free = DeferredSemaphore(MOST_ROUTED)
        self._numbers = itertools.count()
        self._waiting: dict[int, tuple[Callable[..., Any], Deferred[RoutedAnswer]]] = {}
        self._lock = Lock()
        pipe.answers(self._answered)

    def ask(self, request: Request) -> Deferred[RoutedAnswer]:
        """Have the worker make a request, as soon as fewer than the most are under way."""
        return self._free.run(self._ask, request)

    def _ask(self, request: Request) -> Deferred[RoutedAnswer]:
        answer: Deferred[RoutedAnswer] = Deferred()
        with self._lock:
            number = next(self._numbers)
            self._waiting[number] = (_caller(), answer)
        headers = [
            (name.decode("latin-1"), value.decode("latin-1"))
            for name, values in request.headers.items()
            for value in values
        ]
        self._pipe.route(RoutedRequest(number, request.url, request.method, headers, request.body))
        return answer

    def _answered(self, answer: RoutedAnswer) -> None:
        """Hand an answer on in the thread of the reactor: this is that of the pipe."""
        with self._lock:
            call, waiting = self._waiting.pop(answer.number)
        call(waiting.callback, answer)


def _caller() -> Callable[..., Any]:
    """Return how other threads have something called in this one."""
    from scrapy.utils.reactor import is_reactor_installed

    if not is_reactor_installed():
        return asyncio.get_running_loop().call_soon_threadsafe
    from twisted.internet import reactor

    return reactor.callFromThread  # type: ignore[no-any-return]


class Routing:
    """The middleware; next to the downloader, so that the request is as it would have been sent."""

    def __init__(self, routes: Routes, crawler: Crawler, *, only_marked: bool) -> None:
        self._routes, self._stats, self._only_marked = routes, crawler.stats, only_marked

    @classmethod
    def of(cls, routes: Routes, *, only_marked: bool) -> type:
        """Return a class that Scrapy can build from a crawler."""

        class OfRun(cls):  # type: ignore[valid-type, misc]
            @classmethod
            def from_crawler(cls, crawler: Crawler) -> Self:
                return cls(routes, crawler, only_marked=only_marked)

        return OfRun

    async def process_request(self, request: Request) -> Response | None:
        """Return the answer of the unblocker, or nothing for a request that is not routed."""
        if (self._only_marked and not request.meta.get(MARK)) or not request.url.startswith(SCHEMES):
            return None
        self._stats.inc_value(REACHED)
        answer = await maybe_deferred_to_future(self._routes.ask(request))
        if answer.error:
            self._stats.inc_value("su_cloud/routed_failed")
            raise Refused(string=f"the unblocker: {answer.error}")  # type: ignore[no-untyped-call]
        self._stats.inc_value("su_cloud/routed")
        headers = Headers()
        for name, value in answer.headers:
            headers.appendlist(name, value)
        kind = responsetypes.from_args(headers=headers, url=request.url, body=answer.body)
        return kind(request.url, status=answer.status, headers=headers, body=answer.body, request=request)
