"""Receivers of webhooks over a real socket: each path answers as a test says, and keeps what it got."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web

Answer = Callable[["Got"], Awaitable[web.Response]]


@dataclass(frozen=True)
class Got:
    """One request, as it came."""

    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def message_id(self) -> str:
        """The webhook-id."""
        return self.headers["webhook-id"]


@dataclass
class Receiver:
    """What all endpoints of a test got, by path; `answers` says how a path answers, else `default`, else 200."""

    url: str = ""
    got: defaultdict[str, list[Got]] = field(default_factory=lambda: defaultdict(list))
    answers: dict[str, Answer] = field(default_factory=dict)
    default: Answer | None = None
    under_way: int = 0
    most_under_way: int = 0

    def says(self, path: str, status: int, **headers: str) -> None:
        """Let a path answer with a status."""

        async def answer(_got: Got) -> web.Response:
            return web.Response(status=status, headers={name.replace("_", "-"): text for name, text in headers.items()})

        self.answers[path] = answer

    def hangs(self, path: str) -> asyncio.Event:
        """Let a path answer only once the event is set."""
        released = asyncio.Event()

        async def answer(_got: Got) -> web.Response:
            await released.wait()
            return web.Response()

        self.answers[path] = answer
        return released

    async def take(self, request: web.Request) -> web.Response:
        """Keep a request and answer it."""
        got = Got(request.path, dict(request.headers), await request.read())
        self.got[request.path].append(got)
        self.under_way += 1
        self.most_under_way = max(self.most_under_way, self.under_way)
        try:
            answer = self.answers.get(request.path, self.default)
            return await answer(got) if answer else web.Response()
        finally:
            self.under_way -= 1


@asynccontextmanager
async def receiving() -> AsyncIterator[Receiver]:
    """Serve while the block runs; whoever still hangs then is cut off."""
    receiver = Receiver()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", receiver.take)
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    receiver.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield receiver
    finally:
        await runner.cleanup()
