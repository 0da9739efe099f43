"""Puts the writer of ClickHouse together."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from services.runtime.blob import BlobStore
from services.runtime.errors import SettingsError
from services.writers.batcher import Batcher
from services.writers.clickhouse.writer import ClickHouseWriter
from services.writers.parts import Executor, Parts
from services.writers.settling import Settling
from services.writers.summaries import Summaries

KIND = "clickhouse"


@asynccontextmanager
async def opened(parts: Parts) -> AsyncIterator[Executor]:
    """Write batches, one after the other."""
    settings = parts.settings
    if not settings.clickhouse:
        raise SettingsError("JOBLEDGER_CLICKHOUSE not set: give the URL of a database, or do not start this writer")
    writer = ClickHouseWriter(
        settings.clickhouse, Summaries(BlobStore(settings.blobs)), settings.clickhouse_migration_seconds
    )
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
