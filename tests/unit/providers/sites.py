"""Sites over a real socket for the direct provider to meet."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from aiohttp import web

from services.ledger.workflow import ServiceSettings
from services.runtime.networks import LOCAL, Networks
from services.workers.providers.direct import DirectProvider
from services.workers.providers.protocol import FetchRequest, FetchResult

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
MAX_BODY_BYTES = 200_000


@asynccontextmanager
async def serving(handler: Handler) -> AsyncIterator[str]:
    """Serve every path of a loopback port by one handler; yields the base URL."""
    app = web.Application()
    app.router.add_get("/{path:.*}", handler)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@asynccontextmanager
async def raw_serving(answer: bytes) -> AsyncIterator[str]:
    """Send the same bytes to whoever connects and hang up."""

    async def on_connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(on_connect, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def fetched(url: str, settings: ServiceSettings | None = None, *, allowed: Networks = LOCAL) -> FetchResult:
    """Fetch one page with a provider of its own."""
    provider = DirectProvider(max_body_bytes=MAX_BODY_BYTES, allowed_networks=allowed)
    await provider.start()
    try:
        return await provider.fetch(FetchRequest(url, settings or ServiceSettings()))
    finally:
        await provider.close()
