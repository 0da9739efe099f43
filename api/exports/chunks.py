"""The results of a job as they are stored, a chunk at a time."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable
from typing import Protocol

from projections.postgres.item_reading import HasItems, Piece, come_of
from services.runtime.errors import BlobMissing
from services.runtime.item_chunks import lines_of

PIECES = 100  # chunks that are asked for at once


class Pieces(Protocol):
    """Tells which chunks hold the results of a job; ItemReads is one."""

    def of_rows(self, job: HasItems, offset: int, count: int, limit: int = ...) -> Awaitable[list[Piece]]:
        """Return the chunks that hold so many results from an offset on, in their order."""


class Blobs(Protocol):
    """Where chunks are; BlobStore is one."""

    async def first(self, key: str, length: int) -> bytes:
        """Return so many bytes at the beginning of a blob, or raise BlobMissing."""


async def chunks_of(pieces: Pieces, blobs: Blobs, job: HasItems, start: int = 0) -> AsyncGenerator[list[bytes]]:
    """Yield the results of a job by chunk, each as JSON, from one on. BlobMissing: they were purged meanwhile."""
    offset, rows = start, come_of(job).rows
    while offset < rows:
        found = await pieces.of_rows(job, offset, rows - offset, PIECES)
        if not found:
            raise BlobMissing(f"no chunk of job {job.job_id} has result {offset}: they were purged")
        for piece in found:
            data = await blobs.first(piece.items_ref, piece.rows_bytes)
            lines = await asyncio.to_thread(lines_of, data)
            yield lines[max(0, start - piece.first_row) :]
            offset = piece.first_row + piece.rows
