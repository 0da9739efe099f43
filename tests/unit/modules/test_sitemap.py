"""Jobs of the module `sitemap` over a real socket: what sitemaps name, however they lie, and what they may not do."""

import gzip
from collections.abc import Sequence

import pytest

from services.workers.modules import sitemap, sitemaps
from services.workers.modules import tools as module_tools
from services.workers.modules.sitemap import Sitemap
from services.workers.modules.sitemaps import MAX_URLS
from tests.unit.modules.shops import TITLE, Page, bench, named

BOMB = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))


def urlset(*urls: str) -> bytes:
    """A sitemap of pages; those without a host are of the site."""
    return _sitemap("urlset", "url", urls)


def index(*urls: str) -> bytes:
    """A sitemap of sitemaps."""
    return _sitemap("sitemapindex", "sitemap", urls)


def _sitemap(root: str, entry: str, urls: Sequence[str]) -> bytes:
    locs = (url if ":" in url else f"{{base}}{url}" for url in urls)
    entries = "".join(f"<{entry}>\n<loc> {loc} </loc><lastmod>2026-01-01</lastmod></{entry}>" for loc in locs)
    return (
        f'<?xml version="1.0"?><{root} xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{entries}</{root}>'.encode()
    )


async def test_a_sitemap_is_planned_in_its_order_each_page_once() -> None:
    async with bench(Sitemap(), {"/sitemap.xml": urlset("/b", "/a", "/b", "/c?x=1&amp;y=2")}) as at:
        assert await at.urls() == ["/b", "/a", "/c?x=1&y=2"]
        assert at.said() == []


async def test_an_index_of_indexes_is_walked_and_packed_sitemaps_are_unpacked() -> None:
    pages = {
        "/sitemap.xml": index("/deep.xml", "/packed.xml.gz"),
        "/deep.xml": index("/deeper.xml"),
        "/deeper.xml": urlset("/3"),
    }
    async with bench(Sitemap(), pages) as at:
        members = urlset("/1", "/2").replace(b"{base}", at.site.base.encode())
        at.site.pages = {**pages, "/packed.xml.gz": gzip.compress(members[:99]) + gzip.compress(members[99:])}
        assert await at.urls() == ["/1", "/2", "/3"]
        assert await at.urls("/packed.xml.gz") == ["/1", "/2"]


async def test_sitemaps_that_name_each_other_are_read_once_each() -> None:
    pages = {"/sitemap.xml": index("/sitemap.xml", "/other.xml"), "/other.xml": index("/sitemap.xml", "/pages.xml")}
    async with bench(Sitemap(), {**pages, "/pages.xml": urlset("/1")}) as at:
        assert await at.urls() == ["/1"]
        assert at.site.asked == ["/sitemap.xml", "/other.xml", "/pages.xml"]


async def test_the_sitemaps_of_a_site_are_those_that_its_robots_txt_names() -> None:
    robots = (
        b"\xef\xbb\xbfUser-agent: *\nDisallow: /x\n SITEMAP : {base}/one.xml\r\nSitemap: /two.xml\nSitemap: mailto:x\n"
    )
    pages = {"/robots.txt": robots, "/one.xml": urlset("/1"), "/two.xml": urlset("/2"), "/sitemap.xml": urlset("/3")}
    async with bench(Sitemap(), pages) as at:
        assert await at.urls("/shop") == ["/1", "/2"]


async def test_a_site_whose_robots_txt_names_none_has_its_sitemap_where_it_usually_is() -> None:
    for robots in ({}, {"/robots.txt": b"User-agent: *\nDisallow:"}):
        async with bench(Sitemap(), {**robots, "/sitemap.xml": urlset("/3")}) as at:
            assert await at.urls("") == ["/3"]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"", "no element found"),
        (b"<urlset><url><loc>{base}/1</loc></url>", "Premature end"),
        (b"<rss><channel/></rss>", "its root is 'rss'"),
        (b"<html><body>welcome</body></html>", "its root is 'html'"),
        (b"\x1f\x8b\x08 no gzip at all", ""),
        (gzip.compress(urlset("http://127.0.0.1/1"))[:-20], "end-of-stream"),
        (b'<!DOCTYPE urlset [<!ENTITY e0 "ha">%s]><urlset>&e9;</urlset>' % BOMB.encode(), "a document type 'urlset'"),
        (b'<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/hostname">]><urlset>&f;</urlset>', "a document type 'x'"),
        (b'<!DOCTYPE x SYSTEM "{base}/evil.dtd"><urlset/>', "a document type 'x'"),
        ('<?xml version="1.0" encoding="utf-16"?><!DOCTYPE x [<!ENTITY a "b">]><urlset/>'.encode("utf-16"), "type 'x'"),
        (b"<urlset>" + b"<url>" * 5_000, ""),
    ],
)
async def test_what_is_no_sitemap_is_told_and_names_nothing(body: bytes, why: str) -> None:
    pages = {"/sitemap.xml": index("/bad.xml", "/good.xml"), "/bad.xml": body, "/good.xml": urlset("/1")}
    async with bench(Sitemap(), pages) as at:
        assert await at.urls() == ["/1"]
        [said] = at.said()
        assert said.startswith("warn: sitemap /bad.xml not read: ")
        assert why in said
        assert at.unread == ["/bad.xml"]
        assert at.site.asked == ["/sitemap.xml", "/bad.xml", "/good.xml"]


@pytest.mark.parametrize("path", ["/away.xml", "/robots.txt"])
async def test_a_sitemap_that_is_away_fails_the_job_which_a_resume_plans_anew(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module_tools, "FIRST_WAIT_SECONDS", 0.0)
    pages: dict[str, Page] = {"/robots.txt": b"Sitemap: /1.xml\nSitemap: /away.xml"}
    pages |= {"/1.xml": urlset("/1"), "/away.xml": urlset("/2")}
    back = pages[path]
    async with bench(Sitemap(), pages) as at:
        at.site.pages = pages | {path: 503}
        said = await at.why_none("")
        assert f"{path} is away" in said
        assert "resume the job when it answers" in said
        assert at.site.asked.count(path) == module_tools.TRIES
        [logged] = at.said()
        assert logged.startswith(f"error: {path} is away")
        at.site.pages = pages | {path: back}
        assert await at.urls("") == ["/1", "/2"]


async def test_a_sitemap_that_cannot_be_read_is_an_item_that_failed() -> None:
    async with bench(Sitemap(), {"/sitemap.xml": index("/gone.xml", "/1.xml"), "/1.xml": urlset("/1")}) as at:
        plan = await at.plan(url=f"{at.site.base}/sitemap.xml", extract=TITLE)
        [gone, _] = await at.run(plan, url=at.site.base, extract=TITLE)
        assert (gone.error, gone.message) == ("sitemap_unread", "http_4xx the site answered 404")


async def test_a_sitemap_that_is_gone_is_told() -> None:
    async with bench(Sitemap(), {"/sitemap.xml": index("/gone.xml", "/1.xml"), "/1.xml": urlset("/1")}) as at:
        assert await at.urls() == ["/1"]
        assert at.said() == ["warn: sitemap /gone.xml not read: http_4xx the site answered 404"]


async def test_a_small_packed_sitemap_that_is_large_unpacked_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemaps, "MAX_BYTES", 300_000)
    bomb = gzip.compress(b"<urlset>" + b" " * 1_000_000 + b"</urlset>")
    async with bench(
        Sitemap(), {"/sitemap.xml": index("/b.xml", "/1.xml"), "/b.xml": bomb, "/1.xml": urlset("/1")}
    ) as at:
        assert await at.urls() == ["/1"]
        assert at.said() == ["warn: sitemap /b.xml not read: it is larger than 300000 bytes unpacked"]


async def test_of_one_sitemap_fifty_thousand_addresses_are_taken_and_the_rest_is_told() -> None:
    async with bench(Sitemap(), {"/sitemap.xml": urlset(*(f"/{n}" for n in range(MAX_URLS + 3)))}) as at:
        assert await at.urls(max_pages=100_000) == [f"/{n}" for n in range(50_000)]
        assert at.said() == ["warn: sitemap /sitemap.xml: 3 addresses beyond the first 50000 are left out"]


async def test_addresses_of_images_and_what_is_no_address_are_no_pages() -> None:
    picture = b"<image:image xmlns:image='x'><image:loc>{base}/1.png</image:loc></image:image>"
    pages = urlset("/1", "ftp://shop.example/2", "javascript:x").replace(b"</url>", picture + b"</url>")
    async with bench(Sitemap(), {"/sitemap.xml": pages}) as at:
        assert await at.urls() == ["/1"]
        assert at.said() == ["warn: sitemap /sitemap.xml: 2 addresses that are none of the web are left out"]


async def test_pages_of_other_sites_are_left_out_and_their_sitemaps_not_asked_for() -> None:
    other = "http://other.example"
    pages = {"/sitemap.xml": index(f"{other}/s.xml", "/1.xml"), "/1.xml": urlset(f"{other}/1", "/1", f"{other}/2")}
    async with bench(Sitemap(), pages) as at:
        assert await at.urls() == ["/1"]
        assert at.said() == ["warn: 2 addresses of other sites are left out"]


async def test_where_all_pages_are_of_other_sites_the_job_fails_and_says_so() -> None:
    async with bench(Sitemap(), {"/sitemap.xml": urlset("http://other.example/1")}) as at:
        assert "other sites only (1)" in await at.why_none()


@pytest.mark.parametrize(
    ("url", "site", "near"),
    [
        ("http://shop.example/1", "https://www.shop.example/", True),
        ("http://www.shop.example/1", "http://shop.example/", True),
        ("http://m.shop.example:8080/1", "http://shop.example/", True),
        ("http://myshop.example/1", "http://shop.example/", False),
        ("http://shop.example.evil/1", "http://shop.example/", False),
        ("http://shop.example@evil.example/1", "http://shop.example/", False),
    ],
)
def test_a_site_is_a_host_with_those_under_it(url: str, site: str, near: bool) -> None:
    assert sitemap._near(url, site) is near


async def test_only_pages_that_contain_a_text_and_so_many_are_planned() -> None:
    async with bench(Sitemap(), {"/sitemap.xml": urlset("/a/1", "/b/2", "/a/3", "/a/4")}) as at:
        assert await at.urls(contains="/a/", max_pages=2) == ["/a/1", "/a/3"]
        assert at.said() == ["warn: no more than 2 pages are read: max_pages"]
        assert "contains '/z/'" in await at.why_none(contains="/z/")


async def test_so_many_sitemaps_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemap, "MAX_SITEMAPS", 3)
    pages = {"/sitemap.xml": index("/1.xml", "/2.xml", "/3.xml", "/4.xml")}
    pages |= {f"/{n}.xml": urlset(f"/{n}") for n in range(1, 5)}
    async with bench(Sitemap(), pages) as at:
        assert await at.urls() == ["/1", "/2"]
        assert at.said() == ["warn: no more than 3 sitemaps are read, 2 are left out"]


async def test_each_page_is_read_and_one_that_is_away_is_an_item_that_failed() -> None:
    pages = {"/sitemap.xml": urlset("/1", "/2", "/3"), "/1": named("Lamp"), "/3": named("Chair")}
    async with bench(Sitemap(), pages) as at:
        plan = [{"url": f"{at.site.base}/{n}"} for n in (1, 2, 3)]
        lamp, gone, chair = await at.run(plan, url=at.site.base, extract=TITLE)
        assert [[dict(row) for row in each.rows] for each in (lamp, chair)] == [
            [{"url": plan[0]["url"], "name": "Lamp"}],
            [{"url": plan[2]["url"], "name": "Chair"}],
        ]
        assert (gone.number, gone.rows, gone.error) == (1, (), "http_4xx")
