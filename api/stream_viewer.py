"""One stream to one viewer: what it is sent, how it is kept alive, and how it ends.

A viewer has no buffer of its own but its socket's: it is a place in the feed that all viewers of the job share. One
that does not read holds up nobody; one that falls behind what the feed keeps gets a new snapshot.
"""

import asyncio
import contextlib
import logging
import random
import socket
import time
from collections.abc import Awaitable, Callable

import psycopg
import psycopg_pool
from aiohttp import web

from api import stream_answers
from api.errors import Problem
from api.stream_answers import EndReason, ResetReason, StreamClosing, StreamReset, retry, sse
from api.stream_feed import JobFeed
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
RECONNECT: dict[EndReason, bool] = {"shutdown": True, "fault": True, "deleted": False, "unauthenticated": False}
Snapshot = Callable[[], Awaitable[tuple[bytes, int]]]  # its bytes, and the position behind which events follow
Allowed = Callable[[], Awaitable[None]]  # raises a Problem where the viewer's key is not good any more


class _Slow(Exception):
    """The viewer does not read."""


class Viewer:
    """Sends the events of a feed behind a position, or a snapshot and what follows it."""

    def __init__(
        self,
        request: web.Request,
        streams: Streams,
        feed: JobFeed,
        *,
        snapshot: Snapshot,
        allowed: Allowed,
        keepalive_seconds: float,
        slow_seconds: float,
    ) -> None:
        self._request, self._streams, self._feed = request, streams, feed
        self._snapshot, self._allowed = snapshot, allowed
        self._keepalive_seconds, self._slow_seconds = keepalive_seconds, slow_seconds
        self._response = web.StreamResponse(headers=HEADERS)
        self._sent = 0

    async def show(self, after: int | None, reset: ResetReason | None, headers: dict[str, str]) -> web.StreamResponse:
        """Send the stream until it ends; `after` is the position behind which to go on, None: begin with a snapshot.

        What keeps it from beginning is raised: it can still be told as an answer.
        """
        said, place = (b"", after) if after is not None else await self._anew(reset)
        began, reason = time.monotonic(), "viewer"
        self._response.headers.update(headers)
        try:
            await self._response.prepare(self._request)
            _give_up_on_silence(self._request, self._slow_seconds)
            await self._write(retry(random.randint(*RETRY_MS)) + said)  # noqa: S311  # spreads viewers, hides nothing
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
            seconds = round(time.monotonic() - began, 3)
            log.info("stream ended", extra={"reason": reason, "events": self._sent, "seconds": seconds})
        return self._response

    async def _follow(self, place: int) -> str:
        """Send what comes behind a position; return why nothing more does."""
        while True:
            if reason := await self._refusal():
                await self._write(sse("close", StreamClosing(reason=reason, reconnect=RECONNECT[reason])))
                return reason
            frames = self._feed.after(place)
            if frames is None:
                said, place = await self._anew("slow")
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

    async def _anew(self, reset: ResetReason | None) -> tuple[bytes, int]:
        """Return a snapshot, behind a reset where one is due, and the position behind which events follow."""
        said = b""
        if reset:
            count("stream_resets", reason=reset)
            log.info("stream reset", extra={"reason": reset})
            said = sse("reset", StreamReset(reason=reset))
        data, place = await self._snapshot()
        return said + data, place

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
