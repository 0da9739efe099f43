"""Hears a spider to its end, in a task of its own: who stops the attempt cuts nothing that is just being stored."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import TypeVar

from schemas.private import MESSAGE_CHARS, private_bytes
from schemas.storable import storable_text
from services.ledger.reports import Extracted, Failed, Outcome
from services.runtime.errors import BlobFault
from services.runtime.time import monotonic
from services.workers.attempt import Report
from services.workers.spiders.frames import Note, Snapshot
from services.workers.spiders.options import RunOptions
from services.workers.spiders.protocol import Ended, Heard, Items, Lines, Spider
from services.workers.spiders.recorder import Recorder
from services.workers.spiders.verdict import Failure, Seen, failure

FLUSH_SECONDS = 1.0  # an item waits so long at most to be recorded
AWAY_SECONDS = 1.0  # between two tries to store what a spider said
STOP_SECONDS = 4.0  # that a spider has to end by itself; a worker that is stopped has 7 for that and for what it said
LIMIT_SECONDS, LIMIT_SHARE = 6.0, 0.1  # before its time limit a run is stopped: it ends, and what it said is recorded

log = logging.getLogger(__name__)
T = TypeVar("T")


class Hearing:
    """What comes of one spider, from its start to its end."""

    def __init__(self, spider: Spider, recorder: Recorder, options: RunOptions, limit_seconds: float | None) -> None:
        self._spider, self._recorder, self._options = spider, recorder, options
        self._seen = Seen()
        self._reports: asyncio.Queue[Report] = asyncio.Queue(1)
        self._stopping: asyncio.Task[None] | None = None
        self._gives_up_at = float("inf")
        limit = float("inf") if limit_seconds is None else limit_seconds
        self._early = min(LIMIT_SECONDS, LIMIT_SHARE * limit)
        self._limit_at = monotonic() + limit - self._early
        self._hearing = asyncio.ensure_future(self._heard_out())

    async def reports(self) -> AsyncGenerator[Report]:
        """Yield reports, the last with an outcome; cancelled once, the spider is stopped and what it says is told."""
        cancelled = False
        while True:
            try:
                report = await self._reports.get()
            except asyncio.CancelledError:
                if cancelled:
                    raise
                cancelled = True
                self.stop(STOP_SECONDS)
                continue
            yield report
            if report.outcome is not None:
                return

    def stop(self, grace_seconds: float) -> None:
        """Have the spider end by itself, and killed where it does not."""
        if self._stopping is None:
            self._gives_up_at = monotonic() + grace_seconds
            self._stopping = asyncio.ensure_future(self._spider.stop(grace_seconds))

    async def close(self) -> None:
        """Have the spider end as at a stop where it has not; nobody is told any more. Killed, where this is cut too."""
        try:
            if not self._hearing.done():
                self.stop(STOP_SECONDS)
                assert self._stopping is not None
                await asyncio.wait({self._stopping})
        finally:
            left = [each for each in (self._hearing, self._stopping) if each is not None]
            for each in left:
                each.cancel()
            await asyncio.wait(left)
            await self._spider.close()

    async def _heard_out(self) -> None:
        try:
            await self._hear()
        except Exception as error:
            log.error("run failed by a fault of ours", exc_info=error)
            await self._reports.put(Report(outcome=failed(Failure("internal", f"{type(error).__name__}: {error}"))))

    async def _hear(self) -> None:
        flushed_at = monotonic()
        ended: Ended | None = None
        async with contextlib.aclosing(self._pieces()) as pieces:
            async for heard in pieces:
                ended = _take(heard, self._seen, self._recorder)
                if ended is not None:
                    break
                if self._recorder.full or monotonic() >= flushed_at + FLUSH_SECONDS:
                    if parts := await self._kept(self._recorder.flushed):
                        await self._reports.put(Report(items=parts))
                    flushed_at = monotonic()
        assert ended is not None
        await self._reports.put(await self._last(ended))

    async def _pieces(self) -> AsyncGenerator[Heard | None]:
        """Yield what the spider says, and None at least every second; its time limit is kept meanwhile."""
        hearing = aiter(self._spider.heard())
        coming: asyncio.Future[Heard] | None = None
        try:
            while True:
                coming = coming or asyncio.ensure_future(anext(hearing))
                left = self._limit_at - monotonic()
                if left <= 0 and self._stopping is None:
                    self._seen.timed_out = True
                    self.stop(self._early * 2 / 3)
                await asyncio.wait({coming}, timeout=FLUSH_SECONDS if left <= 0 else min(left, FLUSH_SECONDS))
                heard, coming = (coming.result(), None) if coming.done() else (None, coming)
                yield heard
        finally:
            if coming is not None:
                coming.cancel()
                await asyncio.wait({coming})

    async def _last(self, ended: Ended) -> Report:
        self._recorder.add_routed(ended.routed)
        parts = await self._kept(self._recorder.flushed)
        why = failure(self._seen, self._options.spiders, ended, self._options.memory_mb)
        if why is not None:
            return Report(items=parts, outcome=failed(why))
        ref = await self._kept(self._recorder.manifest)
        return Report(items=parts, outcome=Extracted(result_ref="", items=self._seen.scraped, extraction_ref=ref))

    async def _kept(self, store: Callable[[], Awaitable[T]]) -> T:
        """Store something; while the blob store is away the spider is held up, as nobody hears it."""
        while True:
            try:
                return await store()
            except BlobFault as error:
                if monotonic() >= self._gives_up_at:
                    raise
                log.warning("what a spider said is not stored, trying again", extra={"error": str(error)})
                await asyncio.sleep(AWAY_SECONDS)


def failed(why: Failure) -> Outcome:
    """Return the outcome of a run that has failed."""
    said = {"message": storable_text(why.message)[:MESSAGE_CHARS]}
    if why.close_reason:
        said["close_reason"] = why.close_reason[:MESSAGE_CHARS]
    return Failed(error_type=why.error_type, private=private_bytes(said))


def _take(heard: Heard | None, seen: Seen, recorder: Recorder) -> Ended | None:
    match heard:
        case Items():
            recorder.add_rows(heard.rows)
        case Lines():
            recorder.add_lines(heard.lines)
        case Note():
            seen.note(heard)
        case Snapshot():
            seen.scraped, seen.succeeded = heard.scraped, heard.succeeded
            recorder.add_snapshot(heard)
        case Ended():
            return heard
    return None
