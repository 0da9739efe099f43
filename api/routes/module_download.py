"""The results of a module job as a file: CSV, JSON or XLSX."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, Literal, assert_never

from aiohttp import web
from msgspec import Meta, Struct

from api.errors import Problem
from api.exports.chunks import chunks_of
from api.exports.sending import gone, sent
from api.exports.table import columns_of
from api.exports.workbook import MAX_ROWS, Sheet, TooMuch
from api.exports.written import Encode, csv_header, csv_of, json_of
from api.http import without_deadline
from api.modules.problems import PREFIX
from api.modules.reading import refuse_expired, row_of, stats_of
from api.modules.shown import filename_of, state_of
from api.operation import Call, Operation
from projections.postgres.item_reading import come_of
from projections.postgres.rows import Job
from services.ledger.status import TERMINAL
from services.runtime.errors import BlobMissing

Format = Literal["csv", "json", "xlsx"]
TYPES: dict[Format, str] = {
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
READ_BYTES = 256 * 1024  # of a finished workbook at a time


class Download(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """As what a file the results are wanted."""

    format: Annotated[Format, Meta(description="xlsx takes at most 1,048,575 results")] = "json"
    bom: Annotated[bool, Meta(description="csv begins with a byte-order mark, for Excel; other formats have none")] = (
        False
    )


async def download(call: Call) -> web.StreamResponse:
    """Send the results of a module job that has ended, however it did, as they were recorded; 410 once purged."""
    asked: Download = call.query
    job = await row_of(call)
    refuse_expired(job)
    if job.status not in TERMINAL:
        message = f"the job has no file yet, it is {state_of(job)}: read its items meanwhile, or cancel it"
        raise Problem("not_ready", message, details={"status": state_of(job)})
    headers = {
        "Content-Type": TYPES[asked.format],
        "Content-Disposition": f'attachment; filename="{filename_of(job, asked.format)}"',
        "X-Content-Type-Options": "nosniff",
        "Accept-Ranges": "none",  # it is made anew for each call
    }
    try:
        match asked.format:
            case "xlsx":
                return await _workbook(call, job, headers)
            case "csv":
                columns = columns_of(await stats_of(call.parts.blobs, job))
                parts = _framed(call, job, csv_header(columns, bom=asked.bom), csv_of(columns), b"")
            case "json":
                parts = _framed(call, job, b"[", json_of(), b"\n]\n")
            case _:
                assert_never(asked.format)
        async with aclosing(parts):
            return await sent(call.request, headers | without_deadline(), parts)
    except BlobMissing:
        refuse_expired(await row_of(call))  # it may have expired just now
        raise


async def _framed(call: Call, job: Job, before: bytes, encode: Encode, behind: bytes) -> AsyncGenerator[bytes]:
    """Yield a file by its chunks; its beginning comes with the first, so that one that is gone can still be told."""
    said = before
    async for rows in chunks_of(call.parts.jobs.items, call.parts.blobs, job):
        yield said + await asyncio.to_thread(encode, rows)
        said = b""
    yield said + behind


async def _workbook(call: Call, job: Job, headers: dict[str, str]) -> web.StreamResponse:
    """Make the workbook, of which nothing can be sent before its end, and send it; either way nothing stays of it."""
    rows = come_of(job).rows
    if rows > MAX_ROWS:
        raise _too_much(f"the job has {rows} results, and a sheet takes {MAX_ROWS}: ask for format=csv")
    headers |= without_deadline()
    columns = columns_of(await stats_of(call.parts.blobs, job))
    with call.parts.workbooks.taken(), TemporaryDirectory(prefix="jobledger-xlsx-") as directory:
        sheet = Sheet(Path(directory), columns, job.finished_at or job.submitted_at)
        try:
            await _whole(sheet.begin)
            async for each in chunks_of(call.parts.jobs.items, call.parts.blobs, job):
                if gone(call.request):
                    break
                await _whole(partial(sheet.add, each))
        except TooMuch as fault:
            raise _too_much(str(fault)) from None
        finally:
            await _whole(sheet.close)
        headers["Content-Length"] = str(sheet.path.stat().st_size)
        parts = _file(sheet.path)
        async with aclosing(parts):
            return await sent(call.request, headers, parts)


def _too_much(message: str) -> Problem:
    return Problem("too_much_for_xlsx", message, field="format")


async def _file(path: Path) -> AsyncGenerator[bytes]:
    with path.open("rb") as file:
        while data := await asyncio.to_thread(file.read, READ_BYTES):
            yield data


async def _whole(work: Callable[[], Any]) -> None:
    """Do blocking work in a thread, to its end even if nobody waits for it any more: it has files open."""
    doing = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        await asyncio.shield(doing)
    except asyncio.CancelledError:
        await asyncio.wait({doing})
        raise


OPERATIONS = (
    Operation(
        method="GET",
        path=f"{PREFIX}/{{job_id}}/download",
        summary="Download the results of a module job",
        access="read",
        handler=download,
        positioned=True,
        query=Download,
        media_type="application/octet-stream",
        answers={200: None},
        errors=(
            "not_found",
            "not_ready",
            "results_expired",
            "too_much_for_xlsx",
            "too_many_workbooks",
            "catching_up",
            "store_unavailable",
        ),
    ),
)
