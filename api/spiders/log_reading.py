"""Reads the log of a spider job a part at a time: the newest lines that match, or all of it from its beginning."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable
from dataclasses import dataclass
from typing import Protocol

from api.spiders.log_lines import Wanted, decoded
from projections.postgres.item_reading import Said
from projections.postgres.spider_views import SpiderJob
from services.runtime.item_chunks import lines_of

LAST = 2**62  # behind every position of the log
PARTS = 100  # that are asked for at once
MAX_BYTES = 4 * 1024 * 1024  # of lines in one answer, in characters


class Logs(Protocol):
    """Tells where lines are; ItemReads is one."""

    def said(self, org_id: str, job_id: str, after: int, limit: int) -> Awaitable[list[Said]]:
        """Return lines behind a position, oldest first."""

    def said_last(self, org_id: str, job_id: str, before: int, limit: int) -> Awaitable[list[Said]]:
        """Return lines before a position, newest first."""


class Blobs(Protocol):
    """Where lines are; BlobStore is one."""

    async def get(self, key: str) -> bytes:
        """Return a blob, or raise BlobMissing."""


@dataclass(slots=True)
class Found:
    """The newest lines that matched, and whether there are others."""

    lines: list[str]
    more: bool = False  # older ones match too, and are not among these
    parts: int = 0  # that the log has, as far as it was looked at


async def newest(logs: Logs, blobs: Blobs, job: SpiderJob, wanted: Wanted, most: int) -> Found:
    """Return the newest lines that match, oldest first: at most so many, out of the whole log.

    One part is in memory at a time, beside the lines that were found.
    """
    found, chars, place = Found([]), 0, LAST
    while parts := await logs.said_last(job.org_id, job.job_id, place, PARTS):
        for part in parts:
            found.parts += 1
            place = part.position
            if not wanted.may_hold(part.levels):
                continue
            for text in reversed(await _texts(blobs, part, wanted)):
                if len(found.lines) == most or (found.lines and chars + len(text) > MAX_BYTES):
                    found.more = True
                    found.lines.reverse()
                    return found
                found.lines.append(text)
                chars += len(text)
    found.lines.reverse()
    return found


async def whole(logs: Logs, blobs: Blobs, job: SpiderJob) -> AsyncGenerator[bytes]:
    """Yield the log as text, a part at a time, from its beginning. BlobMissing: it was purged meanwhile."""
    place = 0
    while parts := await logs.said(job.org_id, job.job_id, place, PARTS):
        for part in parts:
            place = part.position
            texts = await _texts(blobs, part, Wanted())
            yield "".join(f"{text}\n" for text in texts).encode()


async def _texts(blobs: Blobs, part: Said, wanted: Wanted) -> list[str]:
    if part.lines_ref:
        data = await blobs.get(part.lines_ref)
        return await asyncio.to_thread(_stored, data, wanted)
    return wanted.of(part.lines or [])


def _stored(data: bytes, wanted: Wanted) -> list[str]:
    return wanted.of(decoded(lines_of(data)))
