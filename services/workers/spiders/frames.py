"""Frames between a spider's process and its worker, and what the process is told first. Both sides import this."""

import struct
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

HEADER = struct.Struct(">BI")  # kind, length of what follows
LENGTH = struct.Struct(">I")  # of the Spec, which goes the other way before lines of RoutedAnswer do
MAX_FRAME_BYTES = 16 * 1024 * 1024
MAX_ITEM_BYTES = 4 * 1024 * 1024  # an item beyond is left out, with an error in the log

ITEMS, LINES, SNAPSHOT, NOTE, ROUTED = range(1, 6)  # JSON lines, JSON lines, and one Struct each as JSON
LEVELS = ("debug", "info", "warning", "error", "critical")
REACHED = "su_cloud/requests_reached_downloader"  # a statistic: counted where the downloader itself takes one
MOST_COUNTED = 2**43  # of items and answers
MOST_ROUTED = 32  # requests of a run that the unblocker makes at a time
OURS = "jobledger"  # the logger of what the runner itself says


class Spec(Struct, kw_only=True):
    """What a process is to do."""

    does: Literal["crawl", "list"]
    project: str  # the folder with its scrapy.cfg
    spiders: list[str] = []
    spider_args: dict[str, str] = {}
    settings: dict[str, Any] = {}
    isolate_pipelines: bool = True
    unblock: str = "off"
    log_level: str = "INFO"
    snapshot_seconds: float = 30.0
    allowed: list[str] = []  # networks that are not public and may be reached
    memory_mb: int = 512
    cpus: float = 1.0


class Line(Struct):
    """A line of the log."""

    level: str
    message: str
    timestamp: str
    logger: str


class Note(Struct, omit_defaults=True):
    """Something that a verdict is made of."""

    about: Literal["opened", "closed", "broken", "critical", "memory", "spiders"]
    spider: str = ""
    reason: str = ""  # of a close, or in words
    names: list[str] = []


class Snapshot(Struct):
    """Statistics of the crawl so far."""

    final: bool
    scraped: Annotated[int, Meta(ge=0, le=MOST_COUNTED)]
    succeeded: Annotated[int, Meta(ge=0, le=MOST_COUNTED)]  # responses with a status below 400, robots.txt aside
    stats: dict[str, Any]
    routed: int = 0  # requests that the unblocker answered: the worker counts them, whatever the process says


class RoutedRequest(Struct):
    """A request that is to go through the unblocker."""

    number: int
    url: str
    method: str
    headers: list[tuple[str, str]]
    body: bytes


class RoutedAnswer(Struct):
    """What came of it; `error` empty: an answer."""

    number: int
    status: int = 0
    headers: list[tuple[str, str]] = []
    body: bytes = b""
    error: str = ""
