"""Reads Server-Sent Events off an open answer, as a browser does."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp

PATIENCE_SECONDS = 30.0
LINE_BYTES = 4 * 1024 * 1024  # of one event


@dataclass(frozen=True, slots=True)
class Message:
    """One event."""

    event: str
    id: str
    data: Any


@dataclass(slots=True)
class Stream:
    """An open stream: its messages, and what else came."""

    response: aiohttp.ClientResponse
    last_id: str = ""  # as EventSource keeps it
    retry: int = 0  # milliseconds
    comments: int = 0
    messages: list[Message] = field(default_factory=list)

    async def next(self, seconds: float = PATIENCE_SECONDS) -> Message | None:
        """Return the next message, or None where the server ended the stream or it broke."""
        async with asyncio.timeout(seconds):
            fields: dict[str, str] = {}
            while line := await self._line():
                text = line.decode().rstrip("\n")
                name, _, value = text.partition(": ")
                if text.startswith(":"):
                    self.comments += 1
                elif name == "retry":
                    self.retry = int(value)
                elif text:
                    fields[name] = value
                elif fields:
                    return self._dispatch(fields)
        return None

    async def rest(self) -> list[Message]:
        """Return every message up to the end of the stream."""
        found: list[Message] = []
        while message := await self.next():
            found.append(message)
        return found

    async def until(self, event: str) -> Message:
        """Return the first message of that kind."""
        while message := await self.next():
            if message.event == event:
                return message
        raise AssertionError(f"the stream ended without {event}")

    async def _line(self) -> bytes:
        try:
            return await self.response.content.readline()
        except (aiohttp.ClientError, ConnectionError):
            return b""

    def _dispatch(self, fields: dict[str, str]) -> Message:
        self.last_id = fields.get("id", self.last_id)
        message = Message(fields.get("event", "message"), fields.get("id", ""), json.loads(fields["data"]))
        self.messages.append(message)
        return message


@asynccontextmanager
async def streaming(
    session: aiohttp.ClientSession, url: str, key: str, last_id: str | None = None, **headers: str
) -> AsyncIterator[Stream]:
    """Open the stream of a job; leaving the block drops the connection."""
    given = {"Authorization": f"Bearer {key}", "Accept": "text/event-stream", **headers}
    if last_id is not None:
        given["Last-Event-ID"] = last_id
    timeout = aiohttp.ClientTimeout(total=None)
    async with session.get(url, headers=given, timeout=timeout, read_bufsize=LINE_BYTES) as response:
        try:
            yield Stream(response, last_id or "")
        finally:
            response.close()


class EventSource:
    """Does what a browser's EventSource does: comes back with the last id after every drop, and stops at 204.

    `urls` are asked in turn. Its first connections are dropped after as many messages as `drops` says.
    """

    def __init__(
        self,
        session: aiohttp.ClientSession,
        urls: Sequence[str],
        key: str,
        drops: Sequence[int] = (),
        last_id: str = "",
    ) -> None:
        self._session, self._urls, self._key, self._drops = session, urls, key, drops
        self.last_id = last_id
        self.statuses: list[int] = []
        self.messages: list[Message] = []

    async def run(self) -> None:
        """Follow until the server says that there is nothing more."""
        while True:
            number = len(self.statuses)
            url = self._urls[number % len(self._urls)]
            async with streaming(self._session, url, self._key, self.last_id or None) as stream:
                self.statuses.append(stream.response.status)
                if stream.response.status != 200:
                    return
                drop = self._drops[number] if number < len(self._drops) else None
                while drop != len(stream.messages) and (message := await stream.next()):
                    self.messages.append(message)
                    self.last_id = stream.last_id

    @property
    def ids(self) -> list[str]:
        """The ids of the job's events that came."""
        return [message.id for message in self.messages if message.event in ("event", "done")]
