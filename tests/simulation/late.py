"""Copies of commands that land long after they were answered, and what nobody but a customer may have brought about."""

import asyncio
import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from schemas.events import AnyEvent, DeliveryRequested, DeliveryWaived, RetryBroughtForward
from services.ledger.commands import AnyCommand, ExplainJob, RedeliverJob, RetryNow, WaiveDelivery
from services.runtime.commander import Commander
from services.runtime.errors import NotDelivered
from tests.simulation.chaos import Chaos

COPIED = 0.25  # of all calls
OFTEN = (RetryNow, WaiveDelivery, RedeliverJob)  # which name the wait or the delivery that they are about
COPIED_OFTEN = 0.8
SECONDS = (0.3, 1.5, 4.0, 9.0)


@dataclass(slots=True)
class Late:
    """What customers asked for, some of which is heard once more."""

    chaos: Chaos
    _hurried: set[tuple[str, int]] = field(default_factory=set)  # job, attempt that it waits behind
    _waived: set[tuple[str, str, int]] = field(default_factory=set)  # job, destination, generation
    _redelivered: set[tuple[str, str, int]] = field(default_factory=set)

    def note(self, command: AnyCommand) -> None:
        """Keep what is asked for."""
        match command:
            case RetryNow():
                self._hurried.add((command.job_id, command.attempt))
            case WaiveDelivery():
                self._waived.add((command.job_id, command.destination_id, command.generation))
            case RedeliverJob():
                self._redelivered.add((command.job_id, command.destination_id, command.generation))

    def copied(self, command: AnyCommand) -> bool:
        """Whether a call is to be heard once more."""
        chance = COPIED_OFTEN if isinstance(command, OFTEN) else COPIED
        return not isinstance(command, ExplainJob) and self.chaos.random.random() < chance

    async def again(self, commander: Commander, partition: int, command: AnyCommand) -> None:
        """Let a command land some time after its answer."""
        await asyncio.sleep(self.chaos.random.choice(SECONDS))
        with contextlib.suppress(NotDelivered):
            await commander.tell(partition, command)

    def wrong(self, event: AnyEvent) -> Iterator[str]:
        """Tell of what nobody asked for."""
        match event:
            case RetryBroughtForward() if (event.job_id, event.attempt) not in self._hurried:
                yield f"{event.job_id}: nobody hurried its wait behind attempt {event.attempt}"
            case DeliveryWaived(reason="requested"):
                key = (event.job_id, event.destination_id, event.generation)
                if key not in self._waived:
                    yield f"{key} was waived, and nobody asked for it"
            case DeliveryRequested() if event.generation > 1 and not event.erase:
                key = (event.job_id, event.destination_id, event.generation)
                if key not in self._redelivered:
                    yield f"{key} was delivered once more, and nobody asked for it"
