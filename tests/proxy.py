"""A proxy over a real socket between a process and an HTTP server: a test steps in before or after each request."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import aiohttp
from aiohttp import web
from yarl import URL

Step = Callable[["Passing"], Awaitable[None]]
HOP_BY_HOP = frozenset({"connection", "content-length", "host", "keep-alive", "transfer-encoding"})


class Refused(Exception):
    """Raised by a step: the connection ends without an answer."""


class Unavailable(Exception):
    """Raised by a step: the answer is 503."""


@dataclass(frozen=True)
class Passing:
    """One request on its way."""

    method: str
    agent: str
    body: bytes

    def inserts_into(self, table: str) -> bool:
        """Whether it is an insert of clickhouse-connect into a table."""
        return self.body.startswith(f"INSERT INTO {table} ".encode())


async def _nothing(_passing: Passing) -> None:
    return


@dataclass
class Proxy:
    """Where it listens, and what a test does: `before` the server sees a request, `after` it has answered it."""

    url: str = ""
    before: Step = _nothing
    after: Step = _nothing
    passed: list[Passing] = field(default_factory=list)


@asynccontextmanager
async def proxying(target: str) -> AsyncIterator[Proxy]:
    """Pass everything on to `target`, scheme://host:port."""
    proxy = Proxy()
    async with aiohttp.ClientSession(auto_decompress=False) as session:

        async def handle(request: web.Request) -> web.StreamResponse:
            passing = Passing(request.method, request.headers.get("User-Agent", ""), await request.read())
            proxy.passed.append(passing)
            try:
                await proxy.before(passing)
                answer = await _ask(session, f"{target}{request.raw_path}", request, passing.body)
                await proxy.after(passing)
            except Unavailable:
                raise web.HTTPServiceUnavailable from None
            except (Refused, aiohttp.ClientError):
                if request.transport:
                    request.transport.abort()
                raise web.HTTPBadGateway from None
            return answer

        app = web.Application(client_max_size=1 << 30)
        app.router.add_route("*", "/{path:.*}", handle)
        runner = web.AppRunner(app, access_log=None, auto_decompress=False, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        proxy.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        try:
            yield proxy
        finally:
            await runner.cleanup()


async def _ask(session: aiohttp.ClientSession, url: str, request: web.Request, body: bytes) -> web.Response:
    headers = _kept(request.headers.items())
    async with session.request(request.method, URL(url, encoded=True), data=body or None, headers=headers) as answer:
        return web.Response(status=answer.status, body=await answer.read(), headers=_kept(answer.headers.items()))


def through(proxy: Proxy, url: str) -> str:
    """Return the URL of a database as it is reached through a proxy."""
    parts = urlsplit(url)
    user, at, _ = parts.netloc.rpartition("@")
    return f"http://{user}{at}{urlsplit(proxy.url).netloc}{parts.path}"


def server_of(url: str) -> str:
    """Return where the server of a database is, as `proxying` takes it."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def _kept(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    return {name: value for name, value in headers if name.lower() not in HOP_BY_HOP}
