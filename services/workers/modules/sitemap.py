"""`sitemap`: every page that the sitemaps of a site name, read by an extractor."""

import gzip
import io
import zlib
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from functools import partial
from typing import Annotated, Any

from lxml import etree
from msgspec import Meta, Struct
from yarl import URL

from services.ledger.workflow import ExtractorSettings
from services.workers.modules.pages import extract_faults, in_order, read_page
from services.workers.modules.protocol import Item, Limits, ModuleFailed, Outcome, TooHard, Tools
from services.workers.providers.answers import web_url
from services.workers.providers.protocol import Fetched

MAX_SITEMAPS = 1_000
MAX_SITEMAP_BYTES = 64 * 1024 * 1024  # unpacked; the protocol has 50 MB
MAX_PAGES = 100_000


class SitemapParams(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a `sitemap` job takes: the address of a site, or of a sitemap."""

    url: Annotated[str, Meta(min_length=1, max_length=4_000)]
    contains: Annotated[str, Meta(max_length=500)] = ""  # that an address of a page has to contain
    max_pages: Annotated[int, Meta(ge=1, le=MAX_PAGES)] = 10_000
    extract: ExtractorSettings


class Sitemap:
    """Pages of a site."""

    name = "sitemap"
    params = SitemapParams
    limits = Limits(max_items=MAX_PAGES)
    item_credits = 1

    def faults(self, params: SitemapParams) -> list[str]:
        """Return what is wrong with params."""
        try:
            web_url(params.url)
        except ValueError as error:
            return [f"url: {error}", *extract_faults(params.extract)]
        return extract_faults(params.extract)

    async def plan(self, params: SitemapParams, tools: Tools) -> AsyncIterator[Mapping[str, Any]]:
        """Yield the pages, in the order of the sitemaps, each once."""
        waiting = [params.url] if _is_sitemap(params.url) else await _of_site(params.url, tools)
        seen, pages = set(waiting), set[str]()
        while waiting:
            kind, found = await _read(waiting.pop(0), tools)
            for url in found:
                if kind == "sitemapindex" and url not in seen and len(seen) < MAX_SITEMAPS:
                    seen.add(url)
                    waiting.append(url)
                elif kind == "urlset" and url not in pages and params.contains in url:
                    pages.add(url)
                    yield {"url": url}
                    if len(pages) == params.max_pages:
                        tools.log("warn", f"only the first {params.max_pages} pages are read: max_pages")
                        return
        if not pages:
            raise ModuleFailed(f"no sitemap of {params.url} names a page")

    def run(self, params: SitemapParams, items: Sequence[Item], tools: Tools) -> AsyncGenerator[Outcome]:
        """Read each page."""

        async def work(item: Item) -> Outcome:
            return await read_page(item, item.value["url"], params.extract, tools, {})

        return in_order(items, work)


def _is_sitemap(url: str) -> bool:
    return URL(url).path.endswith((".xml", ".xml.gz"))


async def _of_site(url: str, tools: Tools) -> list[str]:
    """Return the sitemaps that a site's robots.txt names, or where one usually is."""
    site = URL(url).origin()
    answer = await tools.fetch(str(site / "robots.txt"))
    lines = answer.body.decode("utf-8", "replace").splitlines() if isinstance(answer, Fetched) else []
    named = [line.split(":", 1)[1].strip() for line in lines if line.lower().startswith("sitemap:")]
    return list(dict.fromkeys(named))[:MAX_SITEMAPS] or [str(site / "sitemap.xml")]


async def _read(url: str, tools: Tools) -> tuple[str, list[str]]:
    """Return what kind of sitemap is there, and the addresses in it; none where it cannot be read."""
    answer = await tools.fetch(url)
    if not isinstance(answer, Fetched):
        tools.log("warn", f"sitemap {url} not read: {answer.error_type} {answer.message}")
        return "", []
    try:
        return await tools.read(partial(_parsed, answer.body))
    except (TooHard, etree.LxmlError, OSError, EOFError, zlib.error, ValueError) as error:
        tools.log("warn", f"sitemap {url} is none: {error}")
        return "", []


def _parsed(body: bytes) -> tuple[str, list[str]]:
    if body[:2] == b"\x1f\x8b":
        body = gzip.GzipFile(fileobj=io.BytesIO(body)).read(MAX_SITEMAP_BYTES)
    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    root = etree.fromstring(body, parser)
    texts = root.xpath("//*[local-name()='loc']/text()")
    return etree.QName(root).localname, [str(text).strip() for text in texts if _web(str(text).strip())]


def _web(text: str) -> bool:
    try:
        web_url(text)
    except ValueError:
        return False
    return True
