"""Follows the stream of a job over as many connections as it takes: it goes on behind the last event that came.

ApiRefused  the API will not stream this job
ApiSilent   nobody has streamed it for too long
"""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import msgspec
from msgspec import Struct

from services.cli.client import CANNOT_NOW, PATIENCE_SECONDS, TOO_MANY, refusal
from services.cli.errors import ApiSilent
from services.cli.paths import path_of

PAUSE_SECONDS = 0.5  # before the next connection
SILENCE_SECONDS = 45.0  # three keepalives: then the connection is dead, whatever the socket says
LINE_BYTES = 4 * 1024 * 1024  # of one event; a job with everything about it is one line


class Sent(Struct, frozen=True):
    """One Server-Sent Event."""

    event: str
    id: str
    data: Any


async def follow(
    base_url: str, key: str, job_id: str, patience_seconds: float = PATIENCE_SECONDS
) -> AsyncIterator[Sent]:
    """Yield what the stream of a job sends, until the job has ended or the stream says not to come back."""
    headers = {"Authorization": f"Bearer {key}", "Accept": "text/event-stream"}
    timeout = aiohttp.ClientTimeout(total=None, sock_read=SILENCE_SECONDS)
    heard = time.monotonic()
    async with aiohttp.ClientSession(headers=headers, timeout=timeout, read_bufsize=LINE_BYTES) as session:
        while True:
            try:
                async with session.get(base_url + path_of("jobs", job_id, "stream"), headers=headers) as answer:
                    if answer.status == 200:
                        async for sent in _events(answer):
                            heard = time.monotonic()
                            headers |= {"Last-Event-ID": sent.id} if sent.id else {}
                            yield sent
                            if sent.event == "done" or (sent.event == "close" and not sent.data["reconnect"]):
                                return
                    elif answer.status == 204:
                        return
                    elif answer.status not in (CANNOT_NOW, TOO_MANY):
                        raise refusal(answer.status, await answer.read())
                reason = f"status {answer.status}"
            except (aiohttp.ClientError, TimeoutError) as error:
                reason = str(error) or type(error).__name__
            if time.monotonic() - heard >= patience_seconds:
                raise ApiSilent(f"no API at {base_url} streams the job ({reason}): see `jobledger status`")
            await asyncio.sleep(PAUSE_SECONDS)


async def _events(answer: aiohttp.ClientResponse) -> AsyncIterator[Sent]:
    fields: dict[str, str] = {}
    async for line in answer.content:
        name, _, value = line.decode().rstrip("\n").partition(": ")
        if not name and not value and "data" in fields:
            yield Sent(fields.get("event", "message"), fields.get("id", ""), msgspec.json.decode(fields["data"]))
            fields = {}
        elif name:
            fields[name] = value
