"""Reads sitemaps, packed or not, without building a tree of them: what is in one is up to somebody else.

A document type is refused, and with it every entity. What a sitemap may hold is bounded: unpacked bytes, addresses, the
length of an address.
"""

import gzip
import io
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from lxml import etree

from services.workers.providers.answers import web_url

MAX_BYTES = 64 * 1024 * 1024  # unpacked; the protocol has 50 MB
MAX_URLS = 50_000  # of one sitemap, as the protocol has it; further ones are counted
MAX_URL_CHARS = 4_000  # the protocol has 2,048
PIECE_BYTES = 64 * 1024
GZIP = b"\x1f\x8b"
INDEX, PAGES = "sitemapindex", "urlset"
ENTRIES = {INDEX: "sitemap", PAGES: "url"}  # by the root, what its children are called
LOC_DEPTH = 3  # an image or a video inside an entry has addresses too, which are no pages


class NoSitemap(ValueError):
    """What was fetched is no sitemap, or none that is safe to read."""


@dataclass(slots=True)
class Found:
    """What a sitemap names, in its order."""

    kind: str = ""
    urls: list[str] = field(default_factory=list)
    over: int = 0  # addresses beyond those that are taken
    strange: int = 0  # that are none of the web


class _Reading:
    """Gets a sitemap tag by tag."""

    def __init__(self) -> None:
        self._found = Found()
        self._path: list[str] = []
        self._text: list[str] | None = None

    def doctype(self, name: str, _public: str | None, _system: str | None) -> None:
        raise NoSitemap(f"it declares a document type {name!r}, which no sitemap needs")

    def start(self, tag: str, _attributes: object) -> None:
        name = etree.QName(tag).localname
        self._path.append(name)
        if len(self._path) == 1:
            if name not in ENTRIES:
                raise NoSitemap(f"its root is {name[:100]!r}, not {' or '.join(map(repr, ENTRIES))}")
            self._found.kind = name
        elif len(self._path) == LOC_DEPTH and self._path[1:] == [ENTRIES[self._found.kind], "loc"]:
            self._text = []

    def data(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)

    def end(self, _tag: str) -> None:
        if self._text is not None and len(self._path) == LOC_DEPTH:
            self._note("".join(self._text).strip())
            self._text = None
        self._path.pop()

    def close(self) -> Found:
        return self._found

    def _note(self, url: str) -> None:
        if len(url) > MAX_URL_CHARS or not _web(url):
            self._found.strange += 1
        elif len(self._found.urls) == MAX_URLS:
            self._found.over += 1
        else:
            self._found.urls.append(url)


def read_sitemap(body: bytes) -> Found:
    """Return what a sitemap names; NoSitemap where it cannot be read whole."""
    parser = etree.XMLParser(
        target=_Reading(), resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False
    )
    try:
        for piece in _unpacked(body):
            parser.feed(piece)
        found: Found = parser.close()
    except (etree.LxmlError, zlib.error, OSError, EOFError) as error:
        raise NoSitemap(str(error)) from error
    return found


def _unpacked(body: bytes) -> Iterator[bytes]:
    packed = body.startswith(GZIP)
    file = gzip.GzipFile(fileobj=io.BytesIO(body)) if packed else io.BytesIO(body)
    taken = 0
    while piece := file.read(PIECE_BYTES):
        taken += len(piece)
        if taken > MAX_BYTES:
            raise NoSitemap(f"it is larger than {MAX_BYTES} bytes unpacked")
        yield piece


def _web(text: str) -> bool:
    try:
        web_url(text)
    except ValueError:
        return False
    return True
