"""The customers' receiver of webhooks: keeps what it got before it answers, and sometimes answers badly or not."""

import asyncio
import json
import time
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

from aiohttp import web

BAD_TRIES = 2  # of one message that may be answered badly: a third failure would wait for half a minute
SLOW_SECONDS = 3.0


class About(NamedTuple):
    """What a message is about: for each there has to be one message."""

    org_id: str
    hook: str
    type: str
    job_id: str


@dataclass(slots=True)
class Message:
    """One webhook-id: every body that came under it, and when the first one came (microseconds since 1970)."""

    about: About
    first_at: int
    bodies: set[bytes] = field(default_factory=set)
    requests: int = 0


@dataclass(slots=True)
class Receiver:
    """What all endpoints got, by webhook-id."""

    random: Random
    url: str = ""
    messages: dict[str, Message] = field(default_factory=dict)

    @property
    def requests(self) -> int:
        """How many requests there were, repeats included."""
        return sum(message.requests for message in self.messages.values())

    def by_subject(self) -> dict[About, list[str]]:
        """Return the distinct webhook-ids about each thing."""
        ids: defaultdict[About, list[str]] = defaultdict(list)
        for message_id, message in self.messages.items():
            ids[message.about].append(message_id)
        return ids

    async def take(self, request: web.Request) -> web.StreamResponse:
        """Keep a request, then answer it."""
        body, at = await request.read(), time.time_ns() // 1000
        told = json.loads(body)
        about = About(request.match_info["org"], request.match_info["hook"], told["type"], told["data"]["jobId"])
        message = self.messages.setdefault(request.headers["webhook-id"], Message(about, at))
        message.bodies.add(body)
        message.requests += 1
        lot = self.random.random() if message.requests <= BAD_TRIES else 1.0
        if lot < 0.04:
            return web.Response(status=500)
        if lot < 0.06 and request.transport:
            request.transport.abort()  # taken, and nobody is told
        elif lot < 0.08:
            await asyncio.sleep(SLOW_SECONDS)
        return web.Response()


@asynccontextmanager
async def receiving(seed: int) -> AsyncIterator[Receiver]:
    """Serve while the block runs."""
    receiver = Receiver(Random(f"receiver {seed}"))
    app = web.Application()
    app.router.add_post("/{org}/{hook}", receiver.take)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    receiver.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield receiver
    finally:
        await runner.cleanup()
