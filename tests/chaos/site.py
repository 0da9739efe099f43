"""The site that jobs fetch from: the demo's pages, each after a while, so that what is killed has work in hand."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from random import Random

from aiohttp import web

from services.cli.demo_site import demo_app

SECONDS = (0.05, 0.05, 0.3, 1.0, 2.5)  # that pages take


@asynccontextmanager
async def serving(seed: int) -> AsyncIterator[str]:
    """Serve while the block runs; yield the base url."""
    random = Random(f"site {seed}")

    @web.middleware
    async def late(
        request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        await asyncio.sleep(random.choice(SECONDS))
        return await handler(request)

    app = demo_app()
    app.middlewares.append(late)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()
