"""Endpoints, positions and a webhook writer without Postgres and Kafka."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import msgspec

from services.ledger.commands import SettleDeliveries
from services.ledger.reports import DeliveryResult
from services.ledger.tasks import Delivery, DeliveryBatch
from services.runtime.health import Progress
from services.runtime.networks import LOCAL
from services.runtime.settings import Settings
from services.writers.sealed import Sealing
from services.writers.telling import Telling
from services.writers.webhook.attempts import AttemptLog
from services.writers.webhook.calls import Calls
from services.writers.webhook.dispatch import Dispatch, throttles_of
from services.writers.webhook.endpoints import Endpoint, Name
from services.writers.webhook.payload import Where
from services.writers.webhook.sender import Sender
from services.writers.webhook.signing import new_secret
from services.writers.webhook.writer import WebhookWriter
from tests.held_keys import HeldKeys
from tests.unit.workers.fakes import MemoryBlobs, MemoryLedger
from tests.unit.writers.fakes import delivery

SETTINGS = Settings(kafka="", postgres="", registry="", blobs="", allowed_networks=LOCAL, webhook_timeout_seconds=60.0)


class MemoryEndpoints:
    """Endpoints `(org, webhook id)`, each with a secret."""

    def __init__(self) -> None:
        self.endpoints: dict[Name, Endpoint] = {}

    def add(self, webhook_id: str, url: str, *, org_id: str = "org-1", enabled: bool = True) -> Endpoint:
        """Configure an endpoint."""
        endpoint = self.endpoints[org_id, webhook_id] = Endpoint(url, enabled, [new_secret()])
        return endpoint

    async def find(self, name: Name) -> Endpoint | None:
        """Return an endpoint."""
        return self.endpoints.get(name)


class MemoryPositions:
    """A read model that folds when the test says so."""

    def __init__(self) -> None:
        self.folded: defaultdict[int, int] = defaultdict(int)
        self.looks = 0
        self._moved = asyncio.Condition()

    async def fold(self, partition: int, position: int) -> None:
        """Let the read model come so far."""
        async with self._moved:
            self.folded[partition] = position
            self._moved.notify_all()

    async def reached(self, partition: int, position: int, timeout_seconds: float) -> bool:
        """Wait for a position."""
        self.looks += 1
        async with self._moved:
            await self._moved.wait_for(lambda: self.folded[partition] >= position)
        return True


@dataclass
class Desk:
    """A running dispatch and everything around it."""

    dispatch: Dispatch
    endpoints: MemoryEndpoints
    positions: MemoryPositions
    ledger: MemoryLedger
    blobs: MemoryBlobs
    done: list[int] = field(default_factory=list)  # numbers of the records that are done, in their order
    _taken: int = 0

    async def take(self, *deliveries: Delivery) -> int:
        """Take a record and return its number."""
        number, self._taken = self._taken, self._taken + 1
        await self.dispatch.add(DeliveryBatch(deliveries=deliveries), lambda: self.done.append(number))
        return number

    def results(self, **values: object) -> list[DeliveryResult]:
        """Return what the ledger was told, of results with these values."""
        told = [
            each for command in self.ledger.told if isinstance(command, SettleDeliveries) for each in command.results
        ]
        return [each for each in told if all(getattr(each, name) == value for name, value in values.items())]


@asynccontextmanager
async def desk(settings: Settings = SETTINGS, attempts: AttemptLog | None = None) -> AsyncIterator[Desk]:
    """Run a dispatch."""
    endpoints, positions, ledger, blobs = MemoryEndpoints(), MemoryPositions(), MemoryLedger(), MemoryBlobs()
    async with Sender(settings) as sender:
        throttles = throttles_of(settings)
        writer = WebhookWriter(endpoints, blobs, Calls(sender, throttles, attempts), Where(settings.public_url))
        dispatch = Dispatch(
            writer.deliver,
            positions,
            Telling(ledger, "writer-1", Sealing(HeldKeys())),
            Progress("webhook"),
            throttles,
        )
        running = asyncio.create_task(dispatch.run())
        try:
            yield Desk(dispatch, endpoints, positions, ledger, blobs)
        finally:
            running.cancel()
            await asyncio.wait({running})


def hook(number: int = 1, webhook_id: str = "wh-1", **values: object) -> Delivery:
    """Return a delivery to an endpoint, without an extraction unless told otherwise."""
    plain = delivery(number, destination_id=webhook_id, kind="webhook", extraction_ref="")
    return msgspec.structs.replace(plain, **values)
