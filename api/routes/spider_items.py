"""The items of a spider job: page through them, also while it runs, and the whole of them as a file."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

import msgspec
from aiohttp import web

from api.errors import Problem
from api.exports.chunks import chunks_of
from api.exports.gzipped import gzipped
from api.exports.sending import sent
from api.http import answer, without_deadline
from api.operation import Call, Operation
from api.spiders import job_answers
from api.spiders.empty import reason_of
from api.spiders.frame import PREFIX
from api.spiders.job_reading import Items, job_made, job_of, page_of, refuse_expired
from api.spiders.job_requests import DownloadItems, ReadItems
from api.spiders.job_shown import counts_of, ended, state_of
from projections.postgres.spider_views import SpiderJob
from services.runtime.errors import BlobMissing

TYPES = {"gz": "application/gzip", "jsonl": "application/x-ndjson"}
EXTENSIONS = {"gz": "jsonl.gz", "jsonl": "jsonl"}


async def items(call: Call) -> web.StreamResponse:
    """Answer items in the order in which they were stored, also while the job runs.

    `next_cursor` lies behind them: who goes on from there, now or later, never gets one of them again.
    """
    query: ReadItems = call.query
    call, job = await job_of(call, query.org)
    start = int(query.cursor or 0)
    try:
        found = await page_of(call, job, start, query.limit)
    except BlobMissing:
        job = await job_made(call, job.job_id)
        if not job.expired_at:
            raise
        found = Items([], start)  # it has expired just now
    counts = counts_of(job)
    page = job_answers.SpiderItems(
        items=[msgspec.Raw(row) for row in found.rows],
        next_cursor=str(found.next),
        has_more=not job.expired_at and found.next < counts.stored,
        status=state_of(job),
        reason=None if found.rows else reason_of(job),
        items_scraped=counts.scraped,
        items_stored=counts.stored,
        items_buffered=counts.buffered,
        snapshot=not ended(job),
    )
    return answer(200, page)


async def download(call: Call) -> web.StreamResponse:
    """Send all items of a job that has ended, however it did, as JSON lines; 410 once they are past retention."""
    query: DownloadItems = call.query
    call, job = await job_of(call, query.org)
    refuse_expired(job)
    _refuse_without_a_file(job)
    counts = counts_of(job)
    headers = {
        "Content-Type": TYPES[query.format],
        "Content-Disposition": f'attachment; filename="{job.workflow_id}-{job.job_id}.{EXTENSIONS[query.format]}"',
        "X-Items-Scraped": str(counts.scraped),
        "X-Items-Stored": str(counts.stored),
        "X-Content-Type-Options": "nosniff",
        "Accept-Ranges": "none",  # it is made anew for each call
    }
    lines = _lines(call, job)
    try:
        async with aclosing(lines), aclosing(gzipped(lines) if query.format == "gz" else lines) as parts:
            return await sent(call.request, headers | without_deadline(), parts)
    except BlobMissing:
        refuse_expired(await job_made(call, job.job_id))  # it may have expired just now
        raise


def _refuse_without_a_file(job: SpiderJob) -> None:
    """Raise the Problem of a job that runs, or of one whose items were never written: an empty file says neither."""
    counts = counts_of(job)
    if not ended(job):
        message = f"the job is {state_of(job)} and has no file yet: read its items meanwhile, or cancel it"
        raise Problem("not_ready", message, details={"status": state_of(job)})
    if counts.scraped and not counts.stored:
        raise Problem("not_ready", reason_of(job) or "", details={"status": state_of(job)})


async def _lines(call: Call, job: SpiderJob) -> AsyncGenerator[bytes]:
    async for rows in chunks_of(call.parts.jobs.items, call.parts.blobs, job):
        yield b"".join(row + b"\n" for row in rows)


OPERATIONS = (
    Operation(
        method="GET",
        path=f"{PREFIX}/jobs/{{job_id}}/items",
        summary="Page through the items of a spider job, also while it runs",
        access="read",
        operator_too=True,
        handler=items,
        positioned=True,
        query=ReadItems,
        answers={200: job_answers.SpiderItems},
        errors=("not_found", "catching_up", "store_unavailable"),
    ),
    Operation(
        method="GET",
        path=f"{PREFIX}/jobs/{{job_id}}/items/download",
        summary="Download the items of a spider job as JSON lines",
        access="read",
        operator_too=True,
        handler=download,
        positioned=True,
        query=DownloadItems,
        media_type="application/gzip",
        answers={200: None},
        errors=("not_found", "not_ready", "results_expired", "catching_up", "store_unavailable"),
    ),
)
