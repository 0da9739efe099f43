"""Our extension in a crawl: items go to the sink, and what a verdict is made of is noted."""

import logging
from collections.abc import Callable
from typing import Any, Self
from urllib.parse import urlsplit

import msgspec
from itemadapter import ItemAdapter
from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.http import Request, Response
from scrapy.http.request import NO_CALLBACK
from scrapy.spiders import Spider

from schemas.storable import storable
from services.workers.spiders.child.pipe import Pipe
from services.workers.spiders.frames import ITEMS, MAX_ITEM_BYTES, OURS, REACHED, Note

FAILED = 400  # a status from here on
log = logging.getLogger(OURS)


class Run:
    """All crawls of a process: they share a reactor, a sink and a log."""

    def __init__(self, pipe: Pipe) -> None:
        self.pipe = pipe
        self.scraped = self.succeeded = 0
        self.crawlers: list[Crawler] = []

    def sink(self, item: Any) -> None:
        """Keep an item."""
        self.scraped += 1
        try:
            data = _encode(item)
        except (TypeError, UnicodeEncodeError, ValueError, RecursionError, OverflowError):
            data = _encode(storable(msgspec.to_builtins(item, enc_hook=plain, str_keys=True)))
        if b"\\u0000" in data:
            data = _encode(storable(msgspec.json.decode(data)))
        if len(data) > MAX_ITEM_BYTES:
            log.error("an item of %d bytes is left out: the most is %d", len(data), MAX_ITEM_BYTES)
            return
        self.pipe.add(ITEMS, data)


class Reporting:
    """The extension of one spider."""

    def __init__(self, run: Run, crawler: Crawler) -> None:
        self._run, self._stats = run, crawler.stats
        run.crawlers.append(crawler)
        connect = crawler.signals.connect
        connect(self.item_scraped, signal=signals.item_scraped)
        connect(self.response_received, signal=signals.response_received)
        connect(self.reached_downloader, signal=signals.request_reached_downloader)
        connect(self.spider_opened, signal=signals.spider_opened)
        connect(self.spider_closed, signal=signals.spider_closed)

    @classmethod
    def of(cls, run: Run) -> type:
        """Return a class that Scrapy can build from a crawler."""

        class OfRun(cls):  # type: ignore[valid-type, misc]
            @classmethod
            def from_crawler(cls, crawler: Crawler) -> Self:
                return cls(run, crawler)

        return OfRun

    def item_scraped(self, item: Any) -> None:
        """An item went through all pipelines."""
        self._run.sink(item)

    def response_received(self, response: Response, request: Request) -> None:
        """A response came, after redirects and retries."""
        if response.status < FAILED and not _asks_for_robots(request):
            self._run.succeeded += 1

    def reached_downloader(self) -> None:
        """The downloader took a request: no middleware has answered or dropped it."""
        self._stats.inc_value(REACHED)

    def spider_opened(self, spider: Spider) -> None:
        """A spider has started."""
        self._run.pipe.note(Note(about="opened", spider=spider.name))

    def spider_closed(self, spider: Spider, reason: str) -> None:
        """A spider has ended."""
        self._run.pipe.note(Note(about="closed", spider=spider.name, reason=str(reason)))


def plain(value: Any) -> Any:
    """Return what stands for a value that JSON does not know."""
    if ItemAdapter.is_item(value):
        return ItemAdapter(value).asdict()
    if isinstance(value, Request | Response):
        return f"<{type(value).__name__} {value.url}>"
    if hasattr(value, "tolist"):  # of NumPy
        return value.tolist()
    return str(value)


_encode: Callable[[Any], bytes] = msgspec.json.Encoder(enc_hook=plain).encode


def _asks_for_robots(request: Request) -> bool:
    """Whether Scrapy itself asks: a site whose pages all failed has answered that for many."""
    return request.callback is NO_CALLBACK and urlsplit(request.url).path == "/robots.txt"
