"""Puts the writer of one kind of customers' warehouses together."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from psycopg_pool import AsyncConnectionPool

from services.runtime.blob import BlobStore
from services.runtime.sealing import Sealer
from services.writers.parts import Executor, Open, Parts
from services.writers.reading import ItemReading
from services.writers.warehouses.circuits import Circuits
from services.writers.warehouses.delivering import Delivering
from services.writers.warehouses.kinds import KINDS, Kind
from services.writers.warehouses.pacing import Pace
from services.writers.warehouses.shelf import Shelf
from services.writers.warehouses.shipping import Shipping
from services.writers.warehouses.stored import Pool, StoredDestinations

MAX_CONNECTIONS = 4
POOL_SECONDS = 5.0


def opener(kind: Kind) -> Open:
    """Return what opens the writer of a kind."""

    @asynccontextmanager
    async def opened(parts: Parts) -> AsyncIterator[Executor]:
        settings = parts.settings
        bounded = kind.within(settings)
        pace = Pace(bounded.blocks_an_hour)
        async with AsyncExitStack() as stack:
            pool: Pool = AsyncConnectionPool(
                settings.postgres, min_size=1, max_size=MAX_CONNECTIONS, open=False, timeout=POOL_SECONDS
            )
            await stack.enter_async_context(pool)
            sealer = Sealer(settings.credentials_key) if settings.credentials_key else None
            shelf = Shelf(bounded, sealer, allowed=settings.allowed_networks)
            stack.push_async_callback(shelf.close)
            reading = ItemReading(BlobStore(settings.blobs))
            delivering = Delivering(bounded, StoredDestinations(pool), reading, shelf, Circuits(), pace)
            yield Shipping(bounded, delivering.deliver, shelf.close_idle, parts.telling, parts.progress, pace)

    return opened


OPEN: dict[str, Open] = {name: opener(kind) for name, kind in KINDS.items()}
