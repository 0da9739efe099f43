"""Reads module jobs: which there are of an org, their counts, and their results a few chunks at a time."""

import asyncio
from collections.abc import Sequence

from api.errors import Problem, not_found
from api.operation import Call
from api.routes.jobs import job_id_of
from api.times import iso_or_none
from projections.postgres.item_reading import Piece, come_of
from projections.postgres.rows import Job
from projections.postgres.views import JobDetail
from schemas.values import Vocabulary
from services.ledger.items import Items
from services.runtime.blob import BlobStore
from services.runtime.errors import BlobMissing
from services.runtime.item_chunks import lines_of, stats_part
from services.workers.modules.recorder import beginning
from services.workers.modules.stats import Stats, decoded

READS_AT_ONCE = 16  # of the blob store, by one call
EXPIRED = "past retention: the results of the job were purged, and the job itself stays"


async def detail_of(call: Call) -> JobDetail:
    """Return the module job in the path with everything about it, or raise the Problem that there is none."""
    detail = await call.parts.jobs.find(call.caller, job_id_of(call))
    if detail is None or detail.job.vocabulary != Vocabulary.MODULE:
        raise not_found("module job")
    return detail


async def row_of(call: Call) -> Job:
    """Return the row of the module job in the path alone, or raise the Problem that there is none."""
    row = await call.parts.jobs.head(call.caller, job_id_of(call))
    if row is None:
        return (await detail_of(call)).job
    if row.vocabulary != Vocabulary.MODULE:
        raise not_found("module job")
    return row


def refuse_expired(row: Job) -> None:
    """Raise the Problem of results that were purged."""
    if row.expired_at:
        raise Problem("results_expired", EXPIRED, details={"expiredAt": iso_or_none(row.expired_at)})


async def stats_of(blobs: BlobStore, row: Job) -> Stats:
    """Return what is counted by query and by zone; nothing of a job whose results were purged."""
    come = come_of(row)
    if row.expired_at or not come.newest_ref:
        return Stats()
    try:
        data = await blobs.last(come.newest_ref, come.newest_stats_bytes)
    except BlobMissing:  # it expires just now
        return Stats()
    return _counted(data, come)


def _counted(data: bytes, come: Items) -> Stats:
    kept = decoded(stats_part(data, come.newest_stats_bytes))
    return beginning(kept, goes_on_from_another=not come.chunks).now


async def page_of(call: Call, row: Job, offset: int, limit: int) -> list[bytes]:
    """Return results of a job, each as JSON: those that there are by now, from an offset on."""
    count = min(limit, come_of(row).rows - offset)
    if count <= 0:
        return []
    pieces = await call.parts.jobs.items.of_rows(row, offset, count)
    read = await _rows_of_each(call.parts.blobs, pieces)
    return [
        line
        for piece, lines in zip(pieces, read, strict=True)
        for line in lines[max(0, offset - piece.first_row) : offset + count - piece.first_row]
    ]


async def _rows_of_each(blobs: BlobStore, pieces: Sequence[Piece]) -> list[list[bytes]]:
    room = asyncio.Semaphore(READS_AT_ONCE)

    async def read(piece: Piece) -> list[bytes]:
        async with room:
            return lines_of(await blobs.first(piece.items_ref, piece.rows_bytes))

    return await asyncio.gather(*map(read, pieces))
