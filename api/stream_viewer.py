"""One stream to one viewer: what it is sent, how it is kept alive, and how it ends.

A viewer has no buffer of its own but its socket's: it is a place in the feed that all viewers of the job share. One
that does not read holds up nobody; of one that falls behind what the feed keeps the kind of stream says what it gets.
"""

import asyncio
import contextlib
import logging
import math
import random
import socket
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Protocol

import psycopg
import psycopg_pool
from aiohttp import web

from api import stream_answers
from api.errors import Problem
from api.stream_answers import EndReason, retry
from api.stream_frames import Frames
from api.streams import Streams
from services.runtime.metrics import count

log = logging.getLogger(__name__)
HEADERS = {
    "Content-Type": f"{stream_answers.MEDIA_TYPE}; charset=utf-8",
    "Cache-Control": "no-cache, no-transform",  # a proxy that compresses would hold events back
    "X-Accel-Buffering": "no",
    "X-Content-Type-Options": "nosniff",
}
RETRY_MS = (1000, 3000)  # viewers of an instance that stops do not come back all at once
AGAIN_SECONDS = 1.0  # before it is asked again whether a key is still good
FRAMES = 50  # sent at a time
NOT_SOON = math.inf
Allowed = Callable[[], Awaitable[None]]  # raises a Problem where the viewer's key is not good any more


class _Slow(Exception):
    """The viewer does not read."""


class Speech(Protocol):
    """How a kind of stream says what is no frame of its feed."""

    async def behind(self) -> tuple[bytes, int] | None:
        """Return what a viewer gets who fell behind what is kept, and its place then; None: it has to come back."""

    def closing(self, reason: EndReason) -> bytes:
        """Return what is said where the server ends the stream before the job has ended."""


class Viewer:
    """Sends the frames of a feed behind a place."""

    def __init__(
        self,
        request: web.Request,
        streams: Streams,
        feed: Frames,
        speech: Speech,
        *,
        allowed: Allowed,
        keepalive_seconds: float,
        slow_seconds: float,
        most_seconds: float = NOT_SOON,
    ) -> None:
        self._request, self._streams, self._feed, self._speech = request, streams, feed, speech
        self._allowed = allowed
        self._keepalive_seconds, self._slow_seconds, self._most_seconds = keepalive_seconds, slow_seconds, most_seconds
        self._began = time.monotonic()
        self._response = web.StreamResponse(headers=HEADERS)
        self._sent = 0

    async def show(
        self, said: bytes, place: int, headers: dict[str, str], past: AsyncGenerator[bytes] | None = None
    ) -> web.StreamResponse:
        """Send what is said first, then the past, then the frames behind a place until the stream ends."""
        reason = "viewer"
        self._response.headers.update(headers)
        try:
            await self._response.prepare(self._request)
            _give_up_on_silence(self._request, self._slow_seconds)
            await self._write(retry(random.randint(*RETRY_MS)) + said)  # noqa: S311  # spreads viewers, hides nothing
            if past:
                async with contextlib.aclosing(past):
                    async for part in past:
                        await self._write(part)
            reason = await self._follow(place)
            async with asyncio.timeout(self._slow_seconds):
                await self._response.write_eof()
        except ConnectionError:
            pass  # it left: nobody is told, and the job goes on
        except (_Slow, TimeoutError):
            reason = "slow"
            self._abort()
        except Exception:
            reason = "fault"
            log.exception("a stream broke")
            self._abort()
        finally:
            count("streams_ended", reason=reason)
            seconds = round(time.monotonic() - self._began, 3)
            log.info("stream ended", extra={"reason": reason, "events": self._sent, "seconds": seconds})
        return self._response

    async def _follow(self, place: int) -> str:
        """Send what comes behind a position; return why nothing more does."""
        while True:
            if reason := await self._refusal():
                await self._write(self._speech.closing(reason))
                return reason
            if time.monotonic() - self._began >= self._most_seconds:
                return "age"
            frames = self._feed.after(place)
            if frames is None:
                anew = await self._speech.behind()
                if anew is None:
                    return "slow"
                said, place = anew
                await self._write(said)
            elif frames:
                place = frames[:FRAMES][-1].position
                await self._write(b"".join(frame.data for frame in frames[:FRAMES]))
                self._sent += len(frames[:FRAMES])
                count("stream_events_sent", len(frames[:FRAMES]))
            elif self._feed.ended:
                return "done"
            elif not await self._feed.moved(self._keepalive_seconds):
                await self._write(stream_answers.KEEPALIVE)

    async def _refusal(self) -> EndReason | None:
        """Return why nothing more may be sent. While that cannot be told, nothing is, but the stream stays."""
        while not self._streams.stopping:
            try:
                await self._allowed()
                break
            except Problem:
                return "unauthenticated"
            except (psycopg.OperationalError, psycopg_pool.PoolTimeout):
                await asyncio.sleep(min(AGAIN_SECONDS, self._keepalive_seconds))
                await self._write(stream_answers.KEEPALIVE)
        if self._streams.stopping:
            return "shutdown"
        match self._feed.closed:
            case "deleted" | "fault" as reason:
                return reason
            case _:
                return None

    async def _write(self, data: bytes) -> None:
        """Send, and wait until the viewer has read enough of what was sent before."""
        if not data:
            return
        try:
            async with asyncio.timeout(self._slow_seconds):
                await self._response.write(data)
                await self._request.writer.drain()
        except TimeoutError:
            raise _Slow from None

    def _abort(self) -> None:
        if self._request.transport:
            self._request.transport.abort()


def _give_up_on_silence(request: web.Request, seconds: float) -> None:
    """Let the kernel drop a connection whose peer acknowledges nothing: one that vanished without a word."""
    connected: socket.socket | None = request.transport.get_extra_info("socket") if request.transport else None
    if connected is not None and hasattr(socket, "TCP_USER_TIMEOUT"):
        with contextlib.suppress(OSError):  # a socket that is no TCP
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(seconds * 1000))
