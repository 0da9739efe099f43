"""A site on this machine for spiders."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web
from aiohttp.typedefs import Handler

INSIDE = "127.0.0.2"  # it listens there too, and nothing allows that
ROWS = 5
PAGES = 3


@asynccontextmanager
async def site(asked: list[str] | None = None) -> AsyncIterator[str]:
    """Serve a list by pages, items as JSON, and redirects; yield its address. What is asked for is put into `asked`."""

    @web.middleware
    async def noted(request: web.Request, handler: Handler) -> web.StreamResponse:
        if asked is not None:
            asked.append(request.path_qs)
        return await handler(request)

    app = web.Application(middlewares=[noted])
    app.add_routes([web.get("/list/{page}", _list), web.get("/items/{count}", _items), web.get("/robots.txt", _robots)])
    app.add_routes([web.get("/to", _to)])
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    listening = web.TCPSite(runner, "127.0.0.1", 0)
    await listening.start()
    port = runner.addresses[0][1]
    try:
        if sys.platform.startswith("linux"):  # elsewhere this machine has no second address of itself
            await web.TCPSite(runner, INSIDE, port).start()
        yield f"http://127.0.0.1:{port}"
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


async def _to(request: web.Request) -> web.Response:
    raise web.HTTPFound(request.query["url"])
