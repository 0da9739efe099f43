"""Somebody who asks how it was: for the state of a partition at an earlier position, and why a job waited then."""

import asyncio

from services.decider.past import state_at
from services.ledger.digest import digest_of_state
from services.ledger.explain import explain
from services.ledger.replies import Explained
from services.ledger.state import Ledger
from services.runtime.errors import BrokerFault, LogGap
from tests.simulation.folds import Folds
from tests.simulation.patches import DECODER
from tests.simulation.world import World, policy

QUESTIONS = 3
FAR = 100_000  # positions: farther than any log of a seed goes
TOLD = ("status", "reason", "since", "attempt", "worker_id", "node_id")


class Historian:
    """Asks while the storm goes on; the answers have to be what one fold of the log says."""

    def __init__(self, world: World, folds: Folds) -> None:
        self._world, self._folds = world, folds
        self._questions = QUESTIONS
        self.wrong: list[str] = []

    async def run(self) -> None:
        """Ask some questions, also across restarts."""
        random = self._world.random
        while self._questions:
            await asyncio.sleep(random.uniform(1.0, 7.0))
            self._questions -= 1
            partition = random.randrange(self._world.settings.partitions)
            explained = [each for each in self._world.traffic.explained if each[0] == partition]
            if explained and random.random() < 0.5:
                await self._why(*random.choice(explained))
            elif random.random() < 0.2:
                await self._beyond(partition)
            elif position := self._folds.ledgers[partition].position:
                await self._how(partition, random.randint(1, position))
        await asyncio.Event().wait()

    async def _how(self, partition: int, position: int) -> None:
        then = await self._state(partition, position)
        if then and digest_of_state(then) != digest_of_state(self._folds.at(partition, position)):
            self.wrong.append(f"partition {partition} is said to have been in another state at {position}")

    async def _why(self, partition: int, position: int, job_id: str, answered: Explained) -> None:
        """Ask about a moment at which a decider was asked: it may not have told anything else."""
        then = await self._state(partition, position)
        job = then.jobs.get(job_id) if then else None  # none: it had left memory
        if then is None or job is None:
            return
        found = explain(then, job)
        if [getattr(found, name) for name in TOLD] != [getattr(answered, name) for name in TOLD]:
            self.wrong.append(f"{job_id} at {partition}:{position}: {answered} was answered, {found} is found")

    async def _beyond(self, partition: int) -> None:
        try:
            then = await self._state(partition, self._folds.ledgers[partition].position + FAR)
        except LogGap:
            return
        if then:
            self.wrong.append(f"partition {partition} is said to have been at {then.position}, where no log goes")

    async def _state(self, partition: int, position: int) -> Ledger | None:
        """Return a past state; None where the broker is away."""
        settings = self._world.settings
        try:
            return await asyncio.to_thread(state_at, settings, partition, DECODER, policy(settings), position)
        except BrokerFault:
            return None
