"""What processes keep outside the log: blobs, the table of extractions, the read model; all fail at times."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from typing import Any, NoReturn

import psycopg

from projections.postgres.batch import Batch
from projections.postgres.fold import Current, fold, job_keys
from projections.postgres.rows import Checkpoint, Delivery, DeliveryKey, JobKey, JobState, Transition, Visit
from projections.postgres.store import CheckpointMoved
from services.runtime.errors import BlobFault, BlobMissing
from tests.simulation import fibers
from tests.simulation.chaos import Chaos
from tests.simulation.life import Life, current


class Blobs:
    """A store of blobs."""

    def __init__(self, chaos: Chaos) -> None:
        self.blobs: dict[str, bytes] = {}
        self._chaos = chaos

    async def put(self, key: str, data: bytes) -> None:
        """Keep a blob."""
        await self._call(key)
        self.blobs[key] = data
        await self._call(key)

    async def get(self, key: str) -> bytes:
        """Return a blob."""
        await self._call(key)
        if key not in self.blobs:
            raise BlobMissing(key)
        return self.blobs[key]

    async def _call(self, key: str) -> None:
        current().check()
        await asyncio.sleep(self._chaos.latency())
        if self._chaos.strikes("blob_fault"):
            raise BlobFault(f"{key}: simulated")


@dataclass(frozen=True, slots=True)
class Extraction:
    """A row of the table of extractions."""

    generation: int
    stored_at: float  # seconds
    writes: int


class Warehouse:
    """The table of extractions, as `upsert.sql` keeps it: an older generation never replaces a newer one."""

    def __init__(self, chaos: Chaos) -> None:
        self.rows: dict[tuple[str, str], Extraction] = {}
        self.stored: dict[tuple[str, str, str, int], float] = {}  # since when a delivery is durable, in seconds
        self.chaos = chaos

    async def connect(self, *_: Any, **__: Any) -> "Connection":
        """Stand for `psycopg.AsyncConnection.connect`."""
        current().check()
        await asyncio.sleep(self.chaos.latency())
        return Connection(self)

    def keep(self, staged: list[dict[str, Any]]) -> None:
        """Make rows durable."""
        now = asyncio.get_running_loop().time()
        for columns in staged:
            for org, job, place, generation in zip(
                columns["org_id"], columns["job_id"], columns["destination_id"], columns["generation"], strict=True
            ):
                before = self.rows.get((org, job))
                self.stored.setdefault((org, job, place, generation), now)
                if before is None or generation >= before.generation:
                    writes = before.writes + 1 if before else 1
                    self.rows[org, job] = Extraction(generation, now, writes)


class Connection:
    """Stands for `psycopg.AsyncConnection`, for the statements of the writer."""

    closed = False

    def __init__(self, warehouse: Warehouse) -> None:
        self._warehouse, self._chaos = warehouse, warehouse.chaos
        self._life = current()
        self._staged: list[dict[str, Any]] = []
        self._depth = 0

    @contextlib.asynccontextmanager
    async def transaction(self) -> AsyncIterator[None]:
        """Keep what is executed inside, or nothing of it; inner ones are savepoints."""
        self._depth += 1
        mark = len(self._staged)
        try:
            yield
        except BaseException:
            del self._staged[mark:]
            raise
        finally:
            self._depth -= 1
        if not self._depth:
            await self._commit()

    async def execute(self, _statement: bytes, columns: dict[str, Any]) -> None:
        """Stage an upsert; a row may be refused."""
        self._life.check()
        await asyncio.sleep(self._chaos.latency())
        if len(columns["job_id"]) > 1 and self._chaos.strikes("row_refused"):
            raise psycopg.DataError("simulated: one of the rows")
        self._staged.append(columns)

    async def close(self) -> None:
        """End the session."""
        self.closed = True

    async def _commit(self) -> None:
        await asyncio.sleep(self._chaos.latency())
        if self._chaos.strikes("destination_down_before"):
            self._staged = []
            raise psycopg.OperationalError("simulated: before the commit")
        self._life.check()
        self._warehouse.keep(self._staged)
        self._staged = []
        if self._chaos.strikes("destination_down_after"):
            raise psycopg.OperationalError("simulated: after the commit")
        await asyncio.sleep(self._chaos.latency())


@dataclass(slots=True)
class ReadModel:
    """Tables of the read model, and who has the lock of the only writer."""

    jobs: dict[JobKey, JobState] = field(default_factory=dict)
    deliveries: dict[DeliveryKey, Delivery] = field(default_factory=dict)
    transitions: list[Transition] = field(default_factory=list)
    visits: list[Visit] = field(default_factory=list)
    checkpoints: dict[int, Checkpoint] = field(default_factory=dict)
    owner: "Store | None" = None


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
        changes = fold(Current(jobs, deliveries), batch.events)
        if self._chaos.strikes("read_model_down_before"):
            self._fail("before the commit")
        self._call()
        if any(model.checkpoints[number].position != at.position for number, at in batch.before.items()):
            raise CheckpointMoved("simulated")
        model.jobs |= changes.jobs
        model.deliveries |= changes.deliveries
        model.transitions += changes.transitions
        model.visits += changes.visits
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
