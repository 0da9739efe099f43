"""Puts the writer of webhooks together."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from psycopg_pool import AsyncConnectionPool

from projections.postgres.positions import Positions
from services.runtime.blob import BlobStore
from services.writers.parts import Executor, Parts
from services.writers.summaries import Summaries
from services.writers.webhook.attempts import AttemptLog
from services.writers.webhook.calls import Calls
from services.writers.webhook.dispatch import Dispatch, throttles_of
from services.writers.webhook.endpoints import Pool, StoredEndpoints
from services.writers.webhook.payload import Where
from services.writers.webhook.sender import Sender
from services.writers.webhook.writer import WebhookWriter

MAX_CONNECTIONS = 4
POOL_SECONDS = 5.0


@asynccontextmanager
async def opened(parts: Parts) -> AsyncIterator[Executor]:
    """Send many messages at once, each endpoint with a bound of its own."""
    settings = parts.settings
    async with AsyncExitStack() as stack:
        pool: Pool = AsyncConnectionPool(
            settings.postgres, min_size=1, max_size=MAX_CONNECTIONS, open=False, timeout=POOL_SECONDS
        )
        await stack.enter_async_context(pool)
        sender = await stack.enter_async_context(Sender(settings))
        positions = Positions(settings.postgres)
        positions.start()
        stack.push_async_callback(positions.close)
        attempts = await stack.enter_async_context(
            AttemptLog(pool, days=settings.webhook_attempts_days, kept=settings.webhook_attempts_kept)
        )
        throttles = throttles_of(settings)
        calls = Calls(sender, throttles, attempts)
        endpoints = StoredEndpoints(pool, settings.credentials_key)
        where = Where(settings.public_url, settings.spider_prefix)
        writer = WebhookWriter(endpoints, Summaries(BlobStore(settings.blobs)), calls, where)
        yield Dispatch(writer.deliver, positions, parts.telling, parts.progress, throttles)
