"""The stand-ins for the read model in Postgres: its tables, the session that writes them, and who waits for it."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NoReturn

import psycopg

from projections.postgres.batch import Batch
from projections.postgres.endpoints import disable
from projections.postgres.fold import Changes, Current, fold, job_keys
from projections.postgres.rows import (
    Checkpoint,
    Deleted,
    Delivery,
    DeliveryKey,
    Fire,
    FireKey,
    JobKey,
    JobState,
    Transition,
    Visit,
)
from projections.postgres.store import CheckpointMoved
from projections.postgres.usage import Transaction, Usage
from projections.private import opener
from tests.simulation import fibers
from tests.simulation.chaos import Chaos
from tests.simulation.hooks import Hooks
from tests.simulation.life import Life, current
from tests.simulation.vault import Vault


@dataclass(slots=True)
class ReadModel:
    """Tables of the read model, and who has the lock of the only writer."""

    vault: Vault
    hooks: Hooks
    jobs: dict[JobKey, JobState] = field(default_factory=dict)
    deliveries: dict[DeliveryKey, Delivery] = field(default_factory=dict)
    transitions: list[Transition] = field(default_factory=list)
    visits: list[Visit] = field(default_factory=list)
    deleted: dict[JobKey, Deleted] = field(default_factory=dict)  # what stays of deleted jobs
    fires: dict[FireKey, Fire] = field(default_factory=dict)
    usage: dict[str, Usage] = field(default_factory=dict)
    transactions: list[Transaction] = field(default_factory=list)
    checkpoints: dict[int, Checkpoint] = field(default_factory=dict)
    owner: "Store | None" = None

    def take(self, changes: Changes) -> None:
        """Bring the rows to what a batch makes of them."""
        if changes.erased:
            self._erase(changes.erased)
            self.vault.destroy(changes.erased)
        disable(self.hooks, changes.disabled)  # type: ignore[arg-type]
        self.jobs |= changes.jobs
        self.deliveries |= changes.deliveries
        self.transitions += changes.transitions
        self.visits += changes.visits
        self.deleted |= changes.deleted
        self.fires |= changes.fires
        self.usage |= changes.usage
        self.transactions += changes.transactions

    def rows_of(self, key: JobKey) -> list[object]:
        """Return every row of a job that a reader could find."""
        found: list[object] = [row for row in self.transitions if (row.org_id, row.job_id) == key]
        found += [row for row in self.visits if (row.org_id, row.job_id) == key]
        found += [row for name, row in self.deliveries.items() if name[:2] == key]
        return found + [row for name, row in self.jobs.items() if name == key]

    def _erase(self, keys: set[JobKey]) -> None:
        self.jobs = {key: row for key, row in self.jobs.items() if key not in keys}
        self.deliveries = {key: row for key, row in self.deliveries.items() if key[:2] not in keys}
        self.transitions = [row for row in self.transitions if (row.org_id, row.job_id) not in keys]
        self.visits = [row for row in self.visits if (row.org_id, row.job_id) not in keys]


class Store:
    """Stands for `projections.postgres.store.Store`: rows and checkpoints change together."""

    def __init__(self, model: ReadModel, chaos: Chaos) -> None:
        self._model, self._chaos = model, chaos
        self._life: Life = current()
        self._call()

    def lock(self) -> bool:
        """Try to become the only writer; the lock of a dead session is free."""
        self._call()
        owner = self._model.owner
        if owner is None or not owner._life.alive:
            self._model.owner = self
        return self._model.owner is self

    def check_active(self) -> None:
        """There is one version here."""

    def checkpoints(self, partitions: Iterable[int]) -> dict[int, Checkpoint]:
        """Return where to go on."""
        self._call()
        return {number: self._model.checkpoints.setdefault(number, Checkpoint(number)) for number in partitions}

    def write(self, batch: Batch) -> None:
        """Fold a batch, all or nothing."""
        if not batch.after:
            return
        self._call()
        model, keys = self._model, job_keys(batch.events)
        jobs = {key: model.jobs[key] for key in keys if key in model.jobs}
        deliveries = {key: each for key, each in model.deliveries.items() if key[:2] in keys}
        deleted = {key: model.deleted[key] for key in keys if key in model.deleted}
        changes = fold(Current(jobs, deliveries, deleted, model.usage), batch.events, opener(model.vault.keys))
        if self._chaos.strikes("read_model_down_before"):
            self._fail("before the commit")
        self._call()
        if any(model.checkpoints[number].position != at.position for number, at in batch.before.items()):
            raise CheckpointMoved("simulated")
        model.take(changes)
        model.checkpoints |= batch.after
        if self._chaos.strikes("read_model_down_after"):
            self._fail("after the commit")
        self._call()

    def close(self) -> None:
        """End the session."""
        if self._model.owner is self:
            self._model.owner = None

    def _fail(self, when: str) -> NoReturn:
        raise psycopg.OperationalError(f"simulated: {when}")

    def _call(self) -> None:
        self._life.check()
        fibers.sleep(self._chaos.latency())


class Positions:
    """Stands for `projections.postgres.positions.Positions`."""

    def __init__(self, model: ReadModel) -> None:
        self._model = model

    def start(self) -> None:
        """Need nothing."""

    async def close(self) -> None:
        """Hold nothing."""

    async def reached(self, partition: int, position: int, timeout_seconds: float) -> bool:
        """Wait until the read model has folded a position."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout_seconds
        while self._model.checkpoints.get(partition, Checkpoint(partition)).position < position:
            if loop.time() >= deadline:
                return False
            await asyncio.sleep(0.25)
        return True
