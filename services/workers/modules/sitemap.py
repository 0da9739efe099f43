"""`sitemap`: every page that the sitemaps of a site name, read by an extractor."""

import contextlib
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from functools import partial
from typing import Annotated, Any

from msgspec import Meta, Struct
from yarl import URL

from services.ledger.workflow import ExtractorSettings
from services.workers.modules.pages import extract_faults, in_order, read_page
from services.workers.modules.protocol import Item, Limits, ModuleFailed, Outcome, TooHard, Tools
from services.workers.modules.sitemaps import INDEX, PAGES, Found, NoSitemap, read_sitemap
from services.workers.providers.answers import web_url
from services.workers.providers.protocol import Fetched, FetchResult, ProviderError

MAX_SITEMAPS = 1_000
MAX_PAGES = 100_000
UNREAD = "unread"  # of an item: why a sitemap could not be read


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
    limits = Limits(max_items=MAX_PAGES + MAX_SITEMAPS)  # one that cannot be read is an item too
    item_credits = 1

    def faults(self, params: SitemapParams) -> list[str]:
        """Return what is wrong with params."""
        try:
            web_url(params.url)
        except ValueError as error:
            return [f"url: {error}", *extract_faults(params.extract)]
        return extract_faults(params.extract)

    async def plan(self, params: SitemapParams, tools: Tools) -> AsyncIterator[Mapping[str, Any]]:
        """Yield the pages of the site, in the order of the sitemaps, each once, and each sitemap that names none.

        Of a sitemap that is away nobody knows what it names: ModuleFailed, and a resume plans anew.
        """
        waiting = deque([params.url] if _is_sitemap(params.url) else await _of_site(params.url, tools))
        seen, pages = set(waiting), set[str]()
        more = elsewhere = 0
        while waiting:
            sitemap = waiting.popleft()
            found = await _read(sitemap, tools)
            if isinstance(found, str):
                yield {"url": sitemap, UNREAD: found}
                continue
            for url in found.urls:
                if found.kind == INDEX and url not in seen and _near(url, params.url, sitemap):
                    if len(seen) == MAX_SITEMAPS:
                        more += 1
                        continue
                    seen.add(url)
                    waiting.append(url)
                elif found.kind == PAGES and url not in pages and params.contains in url:
                    if not _near(url, params.url):
                        elsewhere += 1
                        continue
                    pages.add(url)
                    yield {"url": url}
                    if len(pages) == params.max_pages:
                        tools.log("warn", f"no more than {params.max_pages} pages are read: max_pages")
                        return
        if more:
            tools.log("warn", f"no more than {MAX_SITEMAPS} sitemaps are read, {more} are left out")
        if elsewhere:
            tools.log("warn", f"{elsewhere} addresses of other sites are left out")
        if not pages:
            raise ModuleFailed(_why_none(params, elsewhere))

    def run(self, params: SitemapParams, items: Sequence[Item], tools: Tools) -> AsyncGenerator[Outcome]:
        """Read each page."""

        async def work(item: Item) -> Outcome:
            if UNREAD in item.value:
                return Outcome(item.number, error="sitemap_unread", message=item.value[UNREAD])
            return await read_page(item, item.value["url"], params.extract, tools, {})

        return in_order(items, work)


def _is_sitemap(url: str) -> bool:
    return URL(url).path.endswith((".xml", ".xml.gz"))


def _near(url: str, *others: str) -> bool:
    """Whether an address belongs to the site of one of the others: its host, or one under it."""
    host = URL(url).host or ""
    return any(host == site or host.endswith(f".{site}") for site in map(_site, others))


def _site(url: str) -> str:
    return (URL(url).host or "").removeprefix("www.")


def _why_none(params: SitemapParams, elsewhere: int) -> str:
    if elsewhere:
        return f"its sitemaps name pages of other sites only ({elsewhere}): give the address of that site"
    containing = f" whose address contains {params.contains!r}" if params.contains else ""
    return f"no sitemap of {params.url} names a page{containing}; give the address of its sitemap"


async def _of_site(url: str, tools: Tools) -> list[str]:
    """Return the sitemaps that a site's robots.txt names, or where one usually is."""
    site = URL(url).origin()
    robots = str(site / "robots.txt")
    answer = await tools.fetch(robots)
    _refuse_away(robots, answer, tools)
    text = answer.body.decode("utf-8-sig", "replace") if isinstance(answer, Fetched) else ""
    named: dict[str, None] = {}
    for line in text.splitlines():
        name, _, value = line.partition(":")
        if name.strip().lower() == "sitemap":
            with contextlib.suppress(ValueError):  # what is no address names nothing
                named[str(web_url(str(site.join(URL(value.strip())))))] = None
    return list(named)[:MAX_SITEMAPS] or [str(site / "sitemap.xml")]


def _refuse_away(url: str, answer: FetchResult, tools: Tools) -> None:
    """Raise ModuleFailed where an answer may be another one later: without it pages would be left out."""
    if isinstance(answer, ProviderError) and answer.retryable:
        why = f"{url} is away ({answer.error_type}: {answer.message})"
        tools.log("error", f"{why}: nothing is planned")
        raise ModuleFailed(f"{why}, and the pages that it names are not known: resume the job when it answers")


async def _read(url: str, tools: Tools) -> Found | str:
    """Return what a sitemap names, or why it names nothing."""
    answer = await tools.fetch(url)
    _refuse_away(url, answer, tools)
    if not isinstance(answer, Fetched):
        return _unread(url, f"{answer.error_type} {answer.message}", tools)
    try:
        found = await tools.read(partial(read_sitemap, answer.body))
    except (TooHard, NoSitemap) as error:
        return _unread(url, str(error), tools)
    if found.over:
        tools.log("warn", f"sitemap {url}: {found.over} addresses beyond the first {len(found.urls)} are left out")
    if found.strange:
        tools.log("warn", f"sitemap {url}: {found.strange} addresses that are none of the web are left out")
    return found


def _unread(url: str, why: str, tools: Tools) -> str:
    tools.log("warn", f"sitemap {url} not read: {why}")
    return why
