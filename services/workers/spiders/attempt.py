"""One attempt at a spider job: a process is started, heard to its end and judged, as a sequence of reports."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator

import msgspec

from schemas.private import private_bytes
from schemas.storable import storable_text
from services.ledger.items import Items as Come
from services.ledger.replies import Granted
from services.ledger.reports import Extracted, Failed, HandedBack, ItemsReport, Outcome, RetryLater
from services.ledger.tasks import Task
from services.runtime.errors import BlobFault, BlobMissing
from services.runtime.time import monotonic
from services.workers.attempt import AWAY_DELAY_MS, Report
from services.workers.blobs import Blobs
from services.workers.job import Unreadable, submitted
from services.workers.spiders.archive import ArchiveInvalid
from services.workers.spiders.frames import Note, Snapshot
from services.workers.spiders.options import RunOptions
from services.workers.spiders.protocol import Ended, Heard, Items, Lines, Runner, Spider
from services.workers.spiders.recorder import Recorder
from services.workers.spiders.verdict import Failure, Seen, failure

FLUSH_SECONDS = 1.0  # an item waits so long at most to be recorded
AWAY_SECONDS = 1.0  # between two tries to store what a spider said

log = logging.getLogger(__name__)


class _Submitted(msgspec.Struct):
    input: RunOptions


async def attempts(blobs: Blobs, runner: Runner, task: Task, granted: Granted) -> AsyncGenerator[Report]:
    """Yield the reports of one attempt; the last one has an outcome."""
    try:
        options = submitted(task.private, _Submitted, "the options of a run").input
        spider = await runner.start(options, await blobs.get(task.workflow_ref))
    except Unreadable as error:
        yield Report(outcome=_failed(Failure("params_invalid", str(error))))
        return
    except (ArchiveInvalid, BlobMissing) as error:
        yield Report(outcome=_failed(Failure("archive_invalid", str(error))))
        return
    except BlobFault as error:
        log.warning("blob store failed, job is tried again", extra={"error": str(error)})
        yield Report(
            outcome=RetryLater(node_id="", try_number=1, delay_ms=AWAY_DELAY_MS, error_type="blobs_unavailable")
        )
        return
    come = granted.resume.items or Come(chain_id=task.job_id)
    recorder = Recorder(blobs, task.org_id, task.job_id, granted.attempt, come)
    try:
        async with contextlib.aclosing(_reports(spider, recorder, options)) as reports:
            async for report in reports:
                yield report
    finally:
        await spider.close()


async def _reports(spider: Spider, recorder: Recorder, options: RunOptions) -> AsyncGenerator[Report]:
    seen = Seen()
    flushed_at = monotonic()
    hearing = aiter(spider.heard())
    coming: asyncio.Future[Heard] | None = None
    ended: Ended | None = None
    while ended is None:
        try:
            coming = coming or asyncio.ensure_future(anext(hearing))
            await asyncio.wait({coming}, timeout=max(0.0, flushed_at + FLUSH_SECONDS - monotonic()))
            heard, coming = (coming.result(), None) if coming.done() else (None, coming)
        except asyncio.CancelledError:  # the job was taken away or the worker stops: it ends, and that is told
            if not seen.opened:
                if coming is not None:
                    coming.cancel()
                yield Report(outcome=HandedBack())
                return
            stopping = asyncio.ensure_future(spider.stop())
            stopping.add_done_callback(lambda done: done.cancelled() or done.exception())
            continue
        ended = _take(heard, seen, recorder)
        if recorder.full or monotonic() >= flushed_at + FLUSH_SECONDS:
            if parts := await _stored(recorder):
                yield Report(items=parts)
            flushed_at = monotonic()
    recorder.add_routed(ended.routed)
    parts = await _stored(recorder)
    failed = failure(seen, options.spiders, ended, options.memory_mb)
    if failed is not None:
        yield Report(items=parts, outcome=_failed(failed))
        return
    yield Report(
        items=parts, outcome=Extracted(result_ref="", items=seen.scraped, extraction_ref=await recorder.manifest())
    )


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


async def _stored(recorder: Recorder) -> tuple[ItemsReport, ...]:
    """Store what came; while the blob store is away the spider is held up, as nobody hears it."""
    while True:
        try:
            return await recorder.flushed()
        except BlobFault as error:
            log.warning("what a spider said is not stored, trying again", extra={"error": str(error)})
            await asyncio.sleep(AWAY_SECONDS)


def _failed(why: Failure) -> Outcome:
    said = {"message": storable_text(why.message)}
    if why.close_reason:
        said["close_reason"] = why.close_reason
    return Failed(error_type=why.error_type, private=private_bytes(said))
