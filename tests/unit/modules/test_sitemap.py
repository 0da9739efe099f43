"""Which pages a `sitemap` job plans, whatever the site answers."""

import gzip
from collections.abc import Callable, Mapping
from typing import TypeVar

import pytest

from services.ledger.workflow import ExtractorSettings
from services.workers.modules.protocol import ModuleFailed
from services.workers.modules.sitemap import Sitemap, SitemapParams
from services.workers.providers.protocol import Fetched, FetchResult, ProviderError

Read = TypeVar("Read")
SITE = "https://shop.example"


def names(*urls: str, kind: str = "urlset") -> bytes:
    """Return a sitemap."""
    inner = "".join(f"<x><loc>{url}</loc></x>" for url in urls)
    return f'<{kind} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{inner}</{kind}>'.encode()


class Site:
    """Has some pages, and keeps what a module says."""

    def __init__(self, pages: Mapping[str, bytes]) -> None:
        self.pages = pages
        self.said: list[str] = []

    async def fetch(self, url: str) -> FetchResult:
        """Return a page, or an error."""
        if url in self.pages:
            return Fetched(200, "application/xml", self.pages[url], url, 1)
        return ProviderError("http_4xx", "the site answered 404")

    async def read(self, work: Callable[[], Read]) -> Read:
        """Do it here."""
        return work()

    def log(self, _level: str, message: str) -> None:
        """Keep it."""
        self.said.append(message)


async def planned(site: Site) -> list[str]:
    params = SitemapParams(url=SITE, extract=ExtractorSettings(fields=()))
    return [value["url"] async for value in Sitemap().plan(params, site)]  # type: ignore[arg-type]


def cut(packed: bytes) -> bytes:
    return packed[:-10]


def broken(packed: bytes) -> bytes:
    return packed[:10] + b"\xff" * 20


@pytest.mark.parametrize("spoilt", [cut, broken])
async def test_a_sitemap_that_cannot_be_unpacked_is_told_of_and_the_others_are_read(
    spoilt: Callable[[bytes], bytes],
) -> None:
    site = Site(
        {
            f"{SITE}/robots.txt": f"Sitemap: {SITE}/bad.xml.gz\nSitemap: {SITE}/good.xml.gz".encode(),
            f"{SITE}/bad.xml.gz": spoilt(gzip.compress(names(f"{SITE}/a"))),
            f"{SITE}/good.xml.gz": gzip.compress(names(f"{SITE}/b", f"{SITE}/c", f"{SITE}/b")),
        }
    )
    assert await planned(site) == [f"{SITE}/b", f"{SITE}/c"]
    assert [said.partition(" is none")[0] for said in site.said] == [f"sitemap {SITE}/bad.xml.gz"]


async def test_what_robots_txt_names_and_is_no_address_is_passed_over() -> None:
    site = Site({f"{SITE}/robots.txt": b"Sitemap: //[\nSitemap: /map.xml"})
    with pytest.raises(ModuleFailed, match="names a page"):
        await planned(site)
