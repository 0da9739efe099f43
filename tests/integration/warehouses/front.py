"""A front of a ClickHouse server: it asks for a password, which the local one does not, and can lose an answer."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
from aiohttp import web

PASSWORD = "pass-77aa"


class Front:
    """Passes calls on that have the password."""

    def __init__(self, server: str) -> None:
        self.url = ""
        self.loses_insert = False  # the answer of the next one
        self._server = server

    async def handle(self, request: web.Request) -> web.Response:
        """Pass a call on."""
        if request.headers.get("X-ClickHouse-Key") != PASSWORD:
            said = "Code: 516. DB::Exception: Authentication failed. (AUTHENTICATION_FAILED)"
            return web.Response(status=403, text=said, headers={"X-ClickHouse-Exception-Code": "516"})
        headers = {"Content-Type": request.headers.get("Content-Type", "")}
        async with (
            aiohttp.ClientSession() as session,
            session.post(f"{self._server}{request.path_qs}", data=request.content, headers=headers) as answer,
        ):
            body = await answer.read()
            kept = {name: value for name, value in answer.headers.items() if name.startswith("X-ClickHouse")}
        if self.loses_insert and request.query.get("query", "").startswith("INSERT"):
            self.loses_insert = False
            assert request.transport
            request.transport.abort()
        return web.Response(status=answer.status, body=body, headers=kept)


@asynccontextmanager
async def fronting(server: str) -> AsyncIterator[Front]:
    """Stand before a server while the block runs."""
    front = Front(server)
    app = web.Application(client_max_size=1 << 30)
    app.router.add_post("/", front.handle)
    runner = web.AppRunner(app, auto_decompress=False)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        front.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield front
    finally:
        await runner.cleanup()
