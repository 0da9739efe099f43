"""The endpoints themselves, as a writer of webhooks finds them behind its HTTP client.

One takes a message, refuses it, asks for time, wants nothing any more, says nothing for a long while, or breaks off,
also after it has taken the message. Nothing else of the writer is stood in for but Postgres and the store of bodies.
"""

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from email.utils import format_datetime
from typing import Any, Literal

import aiohttp
from yarl import URL

from services.runtime.time import utc_now
from services.writers.webhook.sender import THROTTLING
from services.writers.webhook.throttles import FIRST_PAUSE_SECONDS
from tests.simulation.life import as_the_world, current
from tests.simulation.posted import GONE, Call, Posted

LATE_SECONDS = 9.0  # that a message may be taken late by, of which nobody hears
SILENT_SECONDS = 60.0  # until an endpoint that hangs would say something: longer than a writer waits
Broken = Literal["breaks off", "stops"] | None  # what becomes of a body behind its beginning
DATED_SECONDS = 3.0  # that an endpoint asks for by a date, which counts whole seconds


class Session:
    """Stands for the `aiohttp.ClientSession` of one writer."""

    def __init__(self, posted: Posted) -> None:
        self._posted, self._hooks, self._chaos = posted, posted.hooks, posted.chaos
        self._life = current()

    async def post(self, url: URL, *, data: bytes, headers: Mapping[str, str], allow_redirects: bool) -> "Answer":
        """Post a message."""
        assert not allow_redirects
        self._life.check()
        call = self._posted.begin(self._life, str(url), data, headers)
        try:
            return await self._answered(call)
        except BaseException:
            self._posted.end(call)
            raise

    async def close(self) -> None:
        """Hold nothing."""

    async def _answered(self, call: Call) -> "Answer":
        chaos, random = self._chaos, self._chaos.random
        await asyncio.sleep(chaos.latency())
        self._life.check()
        trouble = "away" if call.hook.dying and random.random() < 0.9 else self._hooks.trouble()
        match trouble:
            case "away":
                raise aiohttp.ClientConnectionError("simulated: nobody is there")
            case "gone":
                return self._answer(call, GONE)
            case "refuses":
                return self._answer(call, random.choice((302, 400, 500)))
            case "throttles" | "throttles_again":
                return self._later(call)
            case "hangs":
                late = random.uniform(0.0, LATE_SECONDS)
                as_the_world(lambda: asyncio.get_running_loop().call_later(late, self._posted.take, call))
                await asyncio.sleep(SILENT_SECONDS)
        self._posted.take(call)
        if trouble == "breaks_off":
            raise aiohttp.ServerDisconnectedError("simulated: it has it, and does not say so")
        await asyncio.sleep(chaos.latency())
        self._life.check()
        self._posted.said(call)
        return self._answer(call, random.choice((200, 202, 204)), whole=trouble != "answers_in_part")

    def _later(self, call: Call) -> "Answer":
        """Ask for time, in one of the ways in which that is done."""
        random = self._chaos.random
        status = random.choice((429, 502, 503, 504))
        asked = random.choice(("", "1", "4", "date", "soon"))
        seconds = FIRST_PAUSE_SECONDS if status in THROTTLING else None
        if asked.isdigit():
            seconds = float(asked)
        if asked == "date":
            asked = format_datetime(utc_now() + timedelta(seconds=DATED_SECONDS), usegmt=True)
            seconds = DATED_SECONDS - 1.0
        return self._answer(call, status, asked, seconds)

    def _answer(
        self, call: Call, status: int, retry_after: str = "", pause: float | None = None, *, whole: bool = True
    ) -> "Answer":
        text = b"ok"
        if self._chaos.random.random() < 0.2:  # it says what it was told, and what it was told to keep to itself
            text = f"{call.signatures} {' '.join(call.hook.secrets)}".encode()
        broken: Broken = None if whole else self._chaos.random.choice(("breaks off", "stops"))
        return Answer(self._posted, call, status, {"Retry-After": retry_after}, pause, text, broken)


class Answer:
    """Stands for an `aiohttp.ClientResponse`, and for its content."""

    def __init__(
        self,
        posted: Posted,
        call: Call,
        status: int,
        headers: Mapping[str, str],
        pause: float | None,
        text: bytes,
        broken: Broken,
    ) -> None:
        self.status, self.headers = status, headers
        self._posted, self._call, self._pause, self._text, self._broken = posted, call, pause, text, broken

    async def __aenter__(self) -> "Answer":
        return self

    async def __aexit__(self, *_: Any) -> None:
        self._posted.end(self._call, self.status, self._pause)

    @property
    def content(self) -> "Answer":
        """What its body is read from."""
        return self

    async def read(self, most: int) -> bytes:
        """Return a bit of the body, unless it breaks off or stops coming."""
        if self._broken and not self._text:
            if self._broken == "breaks off":
                raise aiohttp.ClientPayloadError("simulated")
            await asyncio.sleep(SILENT_SECONDS)
        bit, self._text = self._text[:most], self._text[most:]
        return bit
