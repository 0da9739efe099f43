"""What customers want of jobs that are under way: cancel, redeliver, waive, retry at once, explain, delete."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from services.ledger.commands import (
    AnyCommand,
    CancelJob,
    DeleteJob,
    ExplainJob,
    RedeliverJob,
    RetryNow,
    WaiveDelivery,
)
from services.ledger.replies import Answer, Done, Explained, Refused
from services.ledger.status import Status
from services.runtime.ids import uuid7
from tests.simulation.chaos import Chaos
from tests.simulation.houses import OWN
from tests.simulation.lake import LAKE

Ask = Callable[[AnyCommand, bool], Awaitable[Answer]]  # and whether it may be refused


@dataclass(frozen=True, slots=True)
class Orders:
    """Gives them, and keeps what was answered."""

    chaos: Chaos
    ask: Ask
    cancelled: dict[str, str]  # job -> org
    deleted: dict[str, str]
    complaints: list[str]

    async def meddle(self, org: str, job: str, *, under_way_for_long: bool) -> None:
        """Want something of a job, or nothing."""
        match self.chaos.random.random():
            case chance if chance < (0.6 if under_way_for_long else 0.25):
                await self._cancel(org, job)
            case chance if chance < 0.4:
                await self._redeliver(org, job)
            case chance if chance < 0.55:
                await asyncio.sleep(self.chaos.random.choice((0.3, 1.0, 3.0)))
                await self.ask(ExplainJob(command_id="", org_id=org, job_id=job), True)
            case chance if chance < 0.63:
                await self._waive(org, job)
            case chance if chance < 0.78:
                for _ in range(4):  # somewhere in there it may wait
                    await asyncio.sleep(self.chaos.random.uniform(0.1, 1.0))
                    now = await self._present(org, job)
                    if now and now.status == Status.WAITING_RETRY:
                        hurry = RetryNow(command_id="", org_id=org, job_id=job, attempt=now.attempt)
                        await self.ask(hurry, True)

    async def _waive(self, org: str, job: str) -> None:
        """Waive a delivery as it is now, and perhaps want it after all."""
        place = self.chaos.random.choice(("hook", OWN))
        named: dict[str, Any] = {"command_id": "", "org_id": org, "job_id": job, "destination_id": place}
        now = await self._present(org, job)
        generation = dict(now.generations).get(place, 0) if now else 0
        await self.ask(WaiveDelivery(**named, generation=generation), True)
        if self.chaos.random.random() < 0.5:
            await self.ask(RedeliverJob(**named, generation=generation + 1), True)

    async def _present(self, org: str, job: str) -> Explained | None:
        """Return how the ledger has a job now."""
        told = await self.ask(ExplainJob(command_id="", org_id=org, job_id=job), True)
        return told if isinstance(told, Explained) else None

    async def _cancel(self, org: str, job: str) -> None:
        await asyncio.sleep(self.chaos.random.choice((0.0, 0.3, 0.6, 1.0, 1.5, 4.0)))
        told = await self.ask(CancelJob(command_id="", org_id=org, job_id=job, correlation_id=uuid7()), True)
        if isinstance(told, Done):
            self.cancelled[job] = org

    async def _redeliver(self, org: str, job: str) -> None:
        await asyncio.sleep(self.chaos.random.choice((1.0, 4.0, 8.0)))
        place = self.chaos.random.choice(("table", "hook", LAKE, OWN))
        for generation in (2, 3):
            again = RedeliverJob(command_id="", org_id=org, job_id=job, destination_id=place, generation=generation)
            await self.ask(again, True)

    async def delete(self, org: str, job: str) -> None:
        """Delete a job wherever it stands by then, perhaps twice; from then on nobody may be told of it."""
        random, named = self.chaos.random, {"command_id": "", "org_id": org, "job_id": job}
        await asyncio.sleep(random.choice((0.0, 0.3, 1.0, 4.0, 9.0)))
        for _ in range(random.choice((1, 1, 2))):
            told = await self._insist(DeleteJob(**named))
            if not isinstance(told, Done):
                self.complaints.append(f"{job} was not deleted: {told}")
            self.deleted[job] = org
            await asyncio.sleep(random.choice((0.0, 1.0, 6.0)))
        waive = WaiveDelivery(destination_id="hook", generation=1, **named)
        again = RedeliverJob(destination_id="table", generation=2, **named)
        later: list[AnyCommand] = [CancelJob(**named), ExplainJob(**named), waive, again]
        for command in random.sample(later, random.choice((0, 1, 4))):
            told = await self._insist(command)
            if not (isinstance(told, Refused) and told.code == "unknown_job"):
                self.complaints.append(f"{job} was deleted, and {type(command).__name__} is answered {told}")

    async def _insist(self, command: AnyCommand) -> Answer:
        """Ask until the answer is not that the archive is away."""
        while True:
            told: Answer = await self.ask(command, True)
            if not (isinstance(told, Refused) and told.code == "archive_unavailable"):
                return told
            await asyncio.sleep(1.0)
