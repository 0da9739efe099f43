"""What the fakes share: they refuse what their original would, and otherwise answer a page, or what they were told."""

import asyncio
import base64
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import msgspec
from aiohttp import web

Scripted = Callable[[web.Request], Awaitable[web.StreamResponse]]
SECRETS = {"apiKey": "key-5f2c91d7", "zone": "web_unlocker1", "username": "user-77aa", "password": "pass-b83e40"}


@dataclass(frozen=True, slots=True)
class SitePage:
    """What the site behind a provider answers."""

    body: str = "<html><body>hello</body></html>"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"Content-Type": "text/html; charset=iso-8859-1"})


class Strict(msgspec.Struct, forbid_unknown_fields=True):
    """A part of a request: a field that its original does not know is refused."""


class Refused(Exception):
    """The request is not what the original takes."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class FakeProvider:
    """One provider; `scripted` answers come first, each once, and only to requests that are right."""

    name = ""
    path = ""
    authorization = ""  # the only header that is good
    shape: type[msgspec.Struct]

    def __init__(self) -> None:
        self.page = SitePage()
        self.asked: list[dict[str, Any]] = []
        self.scripted: deque[Scripted] = deque()
        self.released = asyncio.Event()

    def checked(self, body: Any) -> None:
        """Raise Refused for fields that do not go together."""

    def answered(self, body: Any, page: SitePage) -> web.Response:
        """Answer a page in the form of the original."""
        raise NotImplementedError

    def refusal(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> web.Response:
        """Answer an error in the form of the original."""
        raise NotImplementedError

    def says(self, status: int, message: str = "scripted", **headers: str) -> None:
        """Answer the next request with an error of the provider."""

        async def answer(_request: web.Request) -> web.StreamResponse:
            return self.refusal(status, message, {name.replace("_", "-"): value for name, value in headers.items()})

        self.scripted.append(answer)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Refuse what is wrong in the order in which servers look at it, then answer."""
        if request.path != self.path:
            return self.refusal(404, "no such endpoint")
        if request.method != "POST":
            return self.refusal(405, "method not allowed")
        if request.content_type != "application/json":
            return self.refusal(415, "send application/json")
        if request.headers.get("Authorization") != self.authorization:
            return self.refusal(401, "invalid credentials")
        data = await request.read()
        try:
            body = msgspec.json.decode(data, type=self.shape)
            self.checked(body)
        except (msgspec.DecodeError, Refused) as error:
            return self.refusal(400, str(error))
        self.asked.append(msgspec.json.decode(data))
        if self.scripted:
            return await self.scripted.popleft()(request)
        return self.answered(body, self.page)

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[str]:
        """Serve on a loopback port; yields the base URL."""
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self.handle)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        try:
            yield f"http://127.0.0.1:{runner.addresses[0][1]}"
        finally:
            self.released.set()
            await runner.cleanup()

    async def hang(self, _request: web.Request) -> web.StreamResponse:
        """Say nothing until the fake is closed."""
        await self.released.wait()
        return web.Response()

    async def reset(self, request: web.Request) -> web.StreamResponse:
        """Cut the connection without a word."""
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    async def half(self, request: web.Request) -> web.StreamResponse:
        """Cut the connection in the middle of the answer."""
        response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": "1000"})
        await response.prepare(request)
        await response.write(b'{"half": "')
        assert request.transport is not None
        request.transport.abort()
        return response

    async def endless(self, request: web.Request) -> web.StreamResponse:
        """Send far more than anybody should read."""
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        try:
            for _ in range(1000):
                await response.write(b" " * 65_536)
        except ConnectionError:
            pass  # the reader has had enough
        return response


def basic(user: str, password: str) -> str:
    """Return a header of HTTP's basic scheme."""
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def two_letters(country: str | None, *, upper: bool) -> None:
    """Raise Refused for what is no country code in the right case."""
    if country is not None and not (len(country) == 2 and country.isalpha() and country.isupper() == upper):
        raise Refused(f"invalid country {country!r}")
