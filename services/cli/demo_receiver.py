"""The webhook endpoint of the demo: away for a while from its first message on, then there for good."""

import asyncio
import math
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from aiohttp import web

DOWN_SECONDS = 10.0


class Receiver:
    """Answers 503 until `open` is called, saying by Retry-After when it means to be back; 200 from then on."""

    def __init__(self, down_seconds: float = DOWN_SECONDS) -> None:
        self.url = ""
        self.down_seconds = down_seconds
        self.called = asyncio.Event()  # the first message has come
        self.first_at: datetime | None = None  # it came then
        self.back_at: datetime | None = None
        self.refused = 0
        self.accepted: set[str] = set()  # ids of the messages taken
        self._first = 0.0

    def left(self) -> float:
        """Return how many more seconds it means to be away; negative once it is late."""
        return self._first + self.down_seconds - time.monotonic()

    def open(self) -> None:
        """Take every message from now on."""
        self.back_at = datetime.now(UTC)

    async def take(self, request: web.Request) -> web.Response:
        """Answer one message."""
        await request.read()
        if self.back_at:
            self.accepted.add(request.headers.get("webhook-id", ""))
            return web.Response()
        if not self.called.is_set():
            self.first_at, self._first = datetime.now(UTC), time.monotonic()
            self.called.set()
        self.refused += 1
        return web.Response(status=503, headers={"Retry-After": str(max(1, math.ceil(self.left())))})


@asynccontextmanager
async def receiving(down_seconds: float = DOWN_SECONDS) -> AsyncIterator[Receiver]:
    """Serve an endpoint on a free port while the block runs."""
    receiver = Receiver(down_seconds)
    app = web.Application()
    app.router.add_post("/hook", receiver.take)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        receiver.url = f"http://127.0.0.1:{runner.addresses[0][1]}/hook"
        yield receiver
    finally:
        await runner.cleanup()
