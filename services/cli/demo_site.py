"""A small site of real-looking pages, good and bad, for the demo to fetch: `python -m services.cli.demo_site`."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial

from aiohttp import web

from services.cli.demo_pages import (
    article_page,
    challenge_page,
    gone_page,
    japanese_page,
    large_page,
    product_page,
    western_page,
)

SLOW_SECONDS = 1.5
FLAKY_FAILURES = 2  # answers with 503 before a /flaky page is good
RENDER_HEADER = "X-Render"
HTML = "text/html"

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@asynccontextmanager
async def serving(host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
    """Serve the pages on a port, any free one by default, and lend the url before their paths."""
    runner = web.AppRunner(demo_app(), access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port).start()
        yield f"http://{host}:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


def demo_app() -> web.Application:
    """Build the application; each has its own count of the tries at flaky pages."""
    tries: Counter[int] = Counter()

    async def flaky(request: web.Request) -> web.Response:
        number = _number(request)
        tries[number] += 1
        if tries[number] <= FLAKY_FAILURES:
            return web.Response(status=503, text="Service Unavailable", headers={"Retry-After": "0"})
        return _answer(product_page(number))

    handlers: dict[str, Handler] = {
        "product": _page(product_page),
        "article": _page(article_page),
        "flaky": flaky,
        "slow": _slow,
        "large": _page(large_page),
        "latin1": _page(western_page, "iso-8859-1", f"{HTML}; charset=ISO-8859-1"),
        "shift-jis": _page(japanese_page, "shift_jis"),
        "undeclared": _page(western_page, "cp1252"),
        "walled": _walled,
        "captcha": _page(challenge_page),
        "gone": _page(gone_page),
        "empty": _page(lambda _number: " \n"),
        "loop": partial(_redirect, "/loop-back/{}"),
        "loop-back": partial(_redirect, "/loop/{}"),
    }
    app = web.Application()
    for name, handler in handlers.items():
        app.router.add_get(rf"/{name}/{{number:\d+}}", handler)
    return app


async def _slow(request: web.Request) -> web.Response:
    await asyncio.sleep(SLOW_SECONDS)
    return _answer(product_page(_number(request)))


async def _walled(request: web.Request) -> web.Response:
    rendered = request.headers.get(RENDER_HEADER) == "browser"
    return _answer((product_page if rendered else challenge_page)(_number(request)))


async def _redirect(target: str, request: web.Request) -> web.Response:
    return web.Response(status=302, headers={"Location": target.format(_number(request))})


def _page(make: Callable[[int], str], encoding: str = "utf-8", content_type: str = HTML) -> Handler:
    async def handler(request: web.Request) -> web.Response:
        return _answer(make(_number(request)), encoding, content_type)

    return handler


def _answer(text: str, encoding: str = "utf-8", content_type: str = HTML) -> web.Response:
    """Answer with the bytes of a page; beside `content_type`, no header says what its encoding is."""
    return web.Response(body=text.encode(encoding), headers={"Content-Type": content_type})


def _number(request: web.Request) -> int:
    return int(request.match_info["number"])


async def _serve() -> None:
    async with serving(port=8099) as base_url:
        print(f"{base_url}/product/1  (stop with Ctrl-C)")
        await asyncio.Event().wait()


if __name__ == "__main__":
    try:
        asyncio.run(_serve())
    except KeyboardInterrupt:
        print("stopped")
