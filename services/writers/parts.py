"""What every kind of writer is given, and what it has to be."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from services.ledger.tasks import DeliveryBatch
from services.runtime.health import Progress
from services.runtime.settings import Settings
from services.streams.acks import Done
from services.writers.telling import Telling


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of one writer process."""

    settings: Settings
    telling: Telling
    progress: Progress


class Executor(Protocol):
    """Takes records of deliveries and has them delivered and answered."""

    async def add(self, batch: DeliveryBatch, done: Done) -> None:
        """Take a record once there is room for it; `done` is called when all of it is answered."""

    async def run(self) -> None:
        """Deliver until cancelled; an error ends it."""


Open = Callable[[Parts], AbstractAsyncContextManager[Executor]]
