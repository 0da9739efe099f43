"""A small site of real-looking pages, good and bad, for the demo to fetch: `python -m services.cli.demo_site`."""

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from html import escape

from aiohttp import web

SLOW_SECONDS = 1.5
FLAKY_FAILURES = 2  # answers with 503 before a /flaky page is good
RENDER_HEADER = "X-Render"

MAKERS = ("Ashdown", "Brightwell", "Corrie", "Dunmore", "Ellery", "Fenwick")
THINGS = ("oak stool", "kettle", "wool blanket", "desk lamp", "cast-iron pan", "linen apron", "bread knife")
TOPICS = ("harbour", "night train", "orchard", "old mill", "market hall", "river path")


@dataclass(frozen=True, slots=True)
class DemoSite:
    """A running demo site; `close` stops it."""

    base_url: str
    runner: web.AppRunner

    async def close(self) -> None:
        """Stop serving."""
        await self.runner.cleanup()


async def start_demo_site(host: str = "127.0.0.1", port: int = 0) -> DemoSite:
    """Serve the pages on a port, any free one by default."""
    runner = web.AppRunner(demo_app(), access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, host, port)
    await site.start()
    bound = runner.addresses[0][1]
    return DemoSite(f"http://{host}:{bound}", runner)


def demo_app() -> web.Application:
    """Build the application; each has its own count of the tries at flaky pages."""
    tries: Counter[int] = Counter()

    async def flaky(request: web.Request) -> web.Response:
        number = int(request.match_info["number"])
        tries[number] += 1
        if tries[number] <= FLAKY_FAILURES:
            return web.Response(status=503, text="Service Unavailable", headers={"Retry-After": "0"})
        return _html(product_page(number))

    async def slow(request: web.Request) -> web.Response:
        await asyncio.sleep(SLOW_SECONDS)
        return _html(product_page(int(request.match_info["number"])))

    async def walled(request: web.Request) -> web.Response:
        number = int(request.match_info["number"])
        rendered = request.headers.get(RENDER_HEADER) == "browser"
        return _html(product_page(number) if rendered else challenge_page(number))

    app = web.Application()
    app.router.add_get(r"/product/{number:\d+}", _page(product_page))
    app.router.add_get(r"/article/{number:\d+}", _page(article_page))
    app.router.add_get(r"/flaky/{number:\d+}", flaky)
    app.router.add_get(r"/slow/{number:\d+}", slow)
    app.router.add_get(r"/walled/{number:\d+}", walled)
    app.router.add_get(r"/captcha/{number:\d+}", _page(challenge_page))
    app.router.add_get(r"/gone/{number:\d+}", _page(gone_page))
    app.router.add_get(r"/empty/{number:\d+}", _page(lambda _number: " \n"))
    return app


def product_page(number: int) -> str:
    """Return a product page with microdata and a visible price."""
    name = f"{MAKERS[number % len(MAKERS)]} {THINGS[number % len(THINGS)]} No. {number}"
    price = 9.9 + number % 40 * 7.25
    return _framed(
        name,
        f"""<main itemscope itemtype="https://schema.org/Product">
<h1 itemprop="name">{escape(name)}</h1>
<img itemprop="image" src="/images/{number}.jpg" alt="">
<p itemprop="description">Made to be used every day and to be mended when it wears. Every piece is checked by hand
before it leaves the workshop, and small differences in grain and colour are part of the material and no fault.</p>
<div itemprop="offers" itemscope itemtype="https://schema.org/Offer">
<span class="price">€ <span itemprop="price" content="{price:.2f}">{price:.2f}</span></span>
<meta itemprop="priceCurrency" content="EUR"><link itemprop="availability" href="https://schema.org/InStock">In stock
</div><p>Article <span class="sku">JL-{number:05d}</span></p></main>""",
    )


def article_page(number: int) -> str:
    """Return an article whose data is in JSON-LD."""
    topic = TOPICS[number % len(TOPICS)]
    headline = f"What the {topic} keeps, part {number}"
    published = f"2026-{number % 12 + 1:02d}-{number % 28 + 1:02d}"
    data = {
        "@context": "https://schema.org",
        "@graph": [
            {"@type": "WebSite", "name": "The Demo Gazette"},
            {
                "@type": "NewsArticle",
                "headline": headline,
                "datePublished": f"{published}T08:00:00+00:00",
                "author": {"@type": "Person", "name": "R. Wren"},
            },
        ],
    }
    paragraph = (
        f"<p>People who have known the {topic} for longest say least about it. They point at the wall, at the water, "
        "at the mark that the last flood left, and go on with what they were doing. The visitor learns to wait.</p>"
    )
    return _framed(
        headline,
        f"<article><h1>{escape(headline)}</h1><time datetime='{published}'>{published}</time>{paragraph * 4}</article>",
        f'<script type="application/ld+json">{json.dumps(data)}</script>',
    )


def challenge_page(number: int) -> str:
    """Return what a bot wall shows instead of a page."""
    return f"""<!doctype html><html lang="en"><head><title>Just a moment...</title>
<meta name="robots" content="noindex,nofollow"></head><body><h1>Checking your browser</h1>
<p>Please complete the security check to continue. This verifies that you are not a robot.</p>
<div id="challenge-stage" data-ray="{number:012x}"></div><noscript>Enable JavaScript and cookies to continue</noscript>
</body></html>"""


def gone_page(_number: int) -> str:
    """Return a not-found page that comes with status 200."""
    return _framed(
        "Page not found", "<main><h1>Sorry, page not found</h1><p>The page you are looking for has moved.</p></main>"
    )


def _framed(title: str, body: str, head: str = "") -> str:
    links = "".join(f'<a href="/{word}/1">{word}s</a> ' for word in ("product", "article"))
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(title)} | Demo Shop</title>{head}'
        f"</head><body><nav>{links}</nav>{body}<footer>Demo Shop, a site that only exists here</footer></body></html>"
    )


def _html(text: str) -> web.Response:
    return web.Response(text=text, content_type="text/html")


def _page(make: Callable[[int], str]) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def handler(request: web.Request) -> web.Response:
        return _html(make(int(request.match_info["number"])))

    return handler


async def _serve() -> None:
    site = await start_demo_site(port=8099)
    print(f"{site.base_url}/product/1  (stop with Ctrl-C)")
    try:
        await asyncio.Event().wait()
    finally:
        await site.close()


if __name__ == "__main__":
    try:
        asyncio.run(_serve())
    except KeyboardInterrupt:
        print("stopped")
