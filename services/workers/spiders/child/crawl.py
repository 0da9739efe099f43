"""Runs spiders as `scrapy crawl` does, all of a run in one reactor, and says what came of each."""

import asyncio
import logging
from typing import Any

from scrapy.crawler import AsyncCrawlerProcess, CrawlerProcess
from scrapy.spiderloader import get_spider_loader
from scrapy.utils.project import get_project_settings
from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from services.workers.spiders.child.extension import Reporting, Run
from services.workers.spiders.child.merged import complete, merge
from services.workers.spiders.child.pipe import Pipe
from services.workers.spiders.child.routing import Routes, Routing
from services.workers.spiders.child.totals import merged
from services.workers.spiders.frames import OURS, SNAPSHOT, Note, Snapshot, Spec

ASYNCIO_REACTOR = "twisted.internet.asyncioreactor.AsyncioSelectorReactor"

log = logging.getLogger(OURS)


def names(pipe: Pipe) -> None:
    """Say which spiders the project has."""
    found = get_spider_loader(get_project_settings()).list()
    pipe.note(Note(about="spiders", names=sorted(found)))


def crawl(spec: Spec, pipe: Pipe) -> None:
    """Run the spiders to their end."""
    settings = get_project_settings()
    had_feeds = merge(settings, spec)
    run = Run(pipe)
    pipe.snapshots(lambda: _snapshot(run, final=False), spec.snapshot_seconds)
    extension = Reporting.of(run)
    routing = None if spec.unblock == "off" else Routing.of(Routes(pipe), only_marked=spec.unblock == "marked")
    process = _process(settings)
    crawls = []
    for name in spec.spiders:
        try:
            crawler = process.create_crawler(name)
            complete(crawler, extension, routing, had_feeds=had_feeds)
            crawls.append((name, process.crawl(crawler, **spec.spider_args)))
        except Exception as error:
            _broken(pipe, name, error)
    for name, crawling in crawls:
        if isinstance(crawling, Deferred):
            crawling.addErrback(_failed, pipe, name)
    process.start()
    for name, crawling in crawls:
        raised = _error_of(crawling)
        if raised:
            _broken(pipe, name, raised)
    pipe.send(SNAPSHOT, _snapshot(run, final=True))


def _process(settings: Any) -> AsyncCrawlerProcess | CrawlerProcess:
    """Return what `scrapy crawl` takes."""
    uses_reactor = settings.getbool("TWISTED_REACTOR_ENABLED")
    asyncio_wanted = settings["TWISTED_REACTOR"] == ASYNCIO_REACTOR
    if not uses_reactor or (asyncio_wanted and not settings.getbool("FORCE_CRAWLER_PROCESS")):
        return AsyncCrawlerProcess(settings, install_root_handler=False)
    return CrawlerProcess(settings, install_root_handler=False)


def _error_of(crawling: object) -> BaseException | None:
    ended = isinstance(crawling, asyncio.Future) and crawling.done() and not crawling.cancelled()
    return crawling.exception() if ended else None  # type: ignore[attr-defined]


def _failed(failure: Failure, pipe: Pipe, name: str) -> None:
    assert failure.value is not None
    _broken(pipe, name, failure.value)


def _broken(pipe: Pipe, name: str, error: BaseException) -> None:
    log.error("spider %s is broken", name, exc_info=error)
    pipe.note(Note(about="broken", spider=name, reason=f"{type(error).__name__}: {error}"[:1_000]))


def _snapshot(run: Run, *, final: bool) -> Snapshot:
    dumps = [dict(crawler.stats.get_stats()) for crawler in run.crawlers]
    return Snapshot(final, run.scraped, run.succeeded, merged(dumps))
