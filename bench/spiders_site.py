"""A site of lists for spiders, in a process of its own: `python -m bench.spiders_site` says where, until stdin ends."""

import asyncio
import sys

from aiohttp import web

ITEMS_A_PAGE = 50


async def page(request: web.Request) -> web.Response:
    """Answer a list of offers, as shops show them."""
    number = int(request.match_info["number"])
    rows = "".join(
        f'<li><a href="/p/{number}-{row}">Lamp number {number}-{row} of brass and glass</a><b>{row}.50</b></li>'
        for row in range(ITEMS_A_PAGE)
    )
    return web.Response(text=f"<html><body><ul>{rows}</ul></body></html>", content_type="text/html")


async def main() -> None:
    """Serve."""
    app = web.Application()
    app.add_routes([web.get("/list/{number}", page)])
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    sys.stdout.write(f"http://127.0.0.1:{runner.addresses[0][1]}\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.read)
    await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(main())
