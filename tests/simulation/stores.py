"""Stores that keep what they have committed: blobs and the table of extractions; both fail at times."""

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

import psycopg

from services.runtime.blob import blob_key
from services.runtime.errors import BlobFault, BlobMissing
from services.writers.postgres.writer import ERASE, ERASE_ATTEMPTS
from tests.simulation.chaos import Chaos
from tests.simulation.life import Life, as_the_world, current

LAST_GENERATION = 2_147_483_647  # of the empty row that `erase.sql` leaves
JobKey = tuple[str, str]


class Blobs:
    """A store of blobs."""

    def __init__(self, chaos: Chaos) -> None:
        self.blobs: dict[str, bytes] = {}
        self.emptied: defaultdict[JobKey, list[float]] = defaultdict(list)  # when every body of a job went, in seconds
        self.swept: dict[JobKey, float] = {}  # whose bodies somebody took for left over, in seconds
        self._chaos = chaos

    async def put(self, key: str, data: bytes) -> None:
        """Keep a blob: what is under way lands, is waited for also when cancelled, and may outlive its process."""
        life = current()
        life.check()
        landed = asyncio.get_running_loop().create_future()
        late = self._chaos.latency() + (self._chaos.random.uniform(0.0, 8.0) if self._chaos.strikes("body_late") else 0)
        as_the_world(lambda: landed.get_loop().call_later(late, self._land, life, key, data, landed))
        try:
            await asyncio.shield(landed)
        except asyncio.CancelledError:
            await asyncio.wait({landed})
            raise
        await self._call(key)

    def _land(self, life: Life, key: str, data: bytes, landed: "asyncio.Future[None]") -> None:
        if life.alive or self._chaos.random.random() < 0.5:
            self.blobs[key] = data
        if not landed.done():
            landed.set_result(None)

    async def get(self, key: str) -> bytes:
        """Return a blob."""
        await self._call(key)
        if key not in self.blobs:
            raise BlobMissing(key)
        return self.blobs[key]

    async def first(self, key: str, length: int) -> bytes:
        """Return the beginning of a blob."""
        return (await self.get(key))[:length]

    async def get_each(self, keys: Sequence[str]) -> list[bytes | Exception]:
        """Return blobs in the order of their keys; each may be what fails."""

        async def read(key: str) -> bytes | Exception:
            try:
                return await self.get(key)
            except BlobFault as error:
                return error

        return await asyncio.gather(*map(read, keys))

    async def delete_job(self, org_id: str, job_id: str, spared: str = "") -> None:
        """Remove every blob of a job."""
        await self._call(job_id)
        for key in self.of_job(org_id, job_id):
            if not (spared and f"/{spared}" in key):
                del self.blobs[key]
        self.emptied[org_id, job_id].append(asyncio.get_running_loop().time())
        await self._call(job_id)

    def sweep(self, job: JobKey) -> None:
        """Remove every blob of a job that is gone, as the scheduler says."""
        self.swept.setdefault(job, asyncio.get_running_loop().time())
        for key in self.of_job(*job):
            del self.blobs[key]

    def of_job(self, org_id: str, job_id: str) -> list[str]:
        """Return the keys of all blobs of a job."""
        prefix = blob_key(org_id, job_id, 0, "x").removesuffix("0/x")
        return [key for key in self.blobs if key.startswith(prefix)]

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
    erased: bool = False


Staged = tuple[bytes, dict[str, Any]]  # a statement and its columns


class Warehouse:
    """The table of extractions, as its statements keep it: an older generation never replaces a newer one."""

    def __init__(self, chaos: Chaos) -> None:
        self.rows: dict[JobKey, Extraction] = {}
        self.stored: dict[tuple[str, str, str, int], float] = {}  # since when a delivery is durable, in seconds
        self.attempts: list[dict[str, Any]] = []  # rows of calls to endpoints, as `hooks.py` keeps them
        self.chaos = chaos

    async def connect(self, *_: Any, **__: Any) -> "Connection":
        """Stand for `psycopg.AsyncConnection.connect`."""
        current().check()
        await asyncio.sleep(self.chaos.latency())
        return Connection(self)

    def keep(self, staged: list[Staged]) -> None:
        """Make what statements did durable."""
        for statement, columns in staged:
            keys = list(zip(columns["org_id"], columns["job_id"], strict=True))
            if statement == ERASE_ATTEMPTS:
                self.attempts = [row for row in self.attempts if (row["org_id"], row["job_id"]) not in keys]
                continue
            for place, key in enumerate(keys):
                if statement == ERASE:
                    self._put(key, LAST_GENERATION, erased=True)
                else:
                    generation = columns["generation"][place]
                    self.stored.setdefault((*key, columns["destination_id"][place], generation), self._now())
                    self._put(key, generation)

    def _put(self, key: JobKey, generation: int, *, erased: bool = False) -> None:
        before = self.rows.get(key)
        if before is None or generation >= before.generation:
            self.rows[key] = Extraction(generation, self._now(), before.writes + 1 if before else 1, erased)

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()


class Connection:
    """Stands for `psycopg.AsyncConnection`, for the statements of the writer."""

    closed = False

    def __init__(self, warehouse: Warehouse) -> None:
        self._warehouse, self._chaos = warehouse, warehouse.chaos
        self._life = current()
        self._staged: list[Staged] = []
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

    async def execute(self, statement: bytes, columns: dict[str, Any] | None = None) -> None:
        """Stage what a statement does, outside of a transaction for no longer than it takes; a row may be refused."""
        self._life.check()
        await asyncio.sleep(self._chaos.latency())
        if columns is None:
            return  # it only waits
        if (
            statement not in (ERASE, ERASE_ATTEMPTS)
            and len(columns["job_id"]) > 1
            and self._chaos.strikes("row_refused")
        ):
            raise psycopg.DataError("simulated: one of the rows")
        self._staged.append((statement, columns))
        if not self._depth:
            await self._commit()

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
