"""The settings of a run: the project's, over them those of the run, over them what the runner insists on."""

import logging
from collections.abc import Mapping
from typing import Any

from scrapy.crawler import Crawler
from scrapy.settings import Settings

from services.workers.spiders.frames import OURS, Spec

FIRST, LAST = 0, 950  # places of extensions and of downloader middlewares: the latter next to the downloader
FEEDS = ("FEEDS", "FEED_URI")
EXTENSIONS_OFF = (
    "scrapy.extensions.feedexport.FeedExporter",
    "scrapy.extensions.telnet.TelnetConsole",
    "scrapy.extensions.remote_control.RemoteControl",
)
OVERRIDDEN: dict[str, Any] = {
    "FEEDS": {},
    "FEED_URI": None,
    "TELNETCONSOLE_ENABLED": False,
    "LOG_ENABLED": False,  # of Scrapy's own handlers: lines go through the pipe
    "LOG_INSTALL_ROOT_HANDLER": False,
    "LOG_FILE": None,
    "LOG_STDOUT": False,
}
PRIORITY = "cmdline"  # over those of a spider

log = logging.getLogger(OURS)


def merge(settings: Settings, spec: Spec) -> bool:
    """Put what the run is given, and what the runner insists on, over the project's; return whether that had feeds."""
    for name, value in spec.settings.items():
        settings.set(name, value, priority=PRIORITY)
    had_feeds = _has_feeds(settings)
    for name, value in OVERRIDDEN.items():
        settings.set(name, value, priority=PRIORITY)
    settings.set("LOG_LEVEL", spec.log_level, priority=PRIORITY)
    if spec.isolate_pipelines:
        settings.set("ITEM_PIPELINES", {}, priority=PRIORITY)
    return had_feeds


def complete(crawler: Crawler, extension: type, routing: type | None, *, had_feeds: bool) -> None:
    """Add what is ours to the components of a spider, beside its own."""
    if had_feeds or _has_feeds(crawler.spidercls.custom_settings or {}):
        log.warning("FEEDS are off: the items of a job are kept, and are read from there")
    _add(crawler.settings, "EXTENSIONS", {extension: FIRST, **dict.fromkeys(EXTENSIONS_OFF)})
    if routing is not None:
        _add(crawler.settings, "DOWNLOADER_MIDDLEWARES", {routing: LAST})


def _has_feeds(settings: Mapping[str, Any]) -> bool:
    return any(settings.get(name) for name in FEEDS)


def _add(settings: Settings, name: str, ours: Mapping[Any, int | None]) -> None:
    settings.set(name, {**settings.getdict(name), **ours}, priority=PRIORITY)
