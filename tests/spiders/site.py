"""A site on this machine for spiders."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web

ROWS = 5
PAGES = 3


@asynccontextmanager
async def site() -> AsyncIterator[str]:
    """Serve a list by pages, items as JSON, and nothing else; yield its address."""
    app = web.Application()
    app.add_routes([web.get("/list/{page}", _list), web.get("/items/{count}", _items), web.get("/robots.txt", _robots)])
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    listening = web.TCPSite(runner, "127.0.0.1", 0)
    await listening.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def _list(request: web.Request) -> web.Response:
    page, pages = int(request.match_info["page"]), int(request.query.get("of", PAGES))
    rows = "".join(f"<li><a>Lamp {page}.{row}</a><b>{row}.50</b></li>" for row in range(ROWS))
    after = f'<a class="next" href="/list/{page + 1}?of={pages}">next</a>' if not pages or page < pages else ""
    return web.Response(text=f"<ul>{rows}</ul>{after}", content_type="text/html")


async def _items(request: web.Request) -> web.Response:
    return web.json_response(list(range(int(request.match_info["count"]))))


async def _robots(_: web.Request) -> web.Response:
    return web.Response(text="User-agent: *\nAllow: /\n")
