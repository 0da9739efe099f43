"""Puts the writer of the internal Postgres store together."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from services.runtime.blob import BlobStore
from services.writers.batcher import Batcher
from services.writers.parts import Executor, Parts
from services.writers.postgres.writer import PostgresWriter
from services.writers.settling import Settling
from services.writers.summaries import Summaries

KIND = "postgres"


@asynccontextmanager
async def opened(parts: Parts) -> AsyncIterator[Executor]:
    """Write batches, one after the other."""
    settings = parts.settings
    writer = PostgresWriter(settings.postgres, Summaries(BlobStore(settings.blobs)))
    settling = Settling(writer, parts.telling, parts.progress, kind=KIND)
    try:
        yield Batcher(
            settling.deliver,
            parts.progress,
            max_rows=settings.writer_batch_rows,
            max_seconds=settings.writer_batch_seconds,
            unanswered_seconds=settings.delivery_resend_seconds,
        )
    finally:
        await writer.close()
