"""What erasure costs a job: CPU of our processes and of Postgres, bytes, and queries.

Run it with `python -m bench.erasure`. It needs a Postgres as `python -m bench.projection` does, works with an org of
its own and takes its keys away again. CPU is that of this process and of the Postgres backend that serves it.
"""

import argparse
import asyncio
import os
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg_pool import AsyncConnectionPool

from bench.projection import database
from schemas.private import private_bytes
from services.runtime.ids import uuid7
from services.runtime.sealing import new_key
from services.runtime.shredding.codec import ADDED_BYTES, JobKey, sealed, unsealed
from services.runtime.shredding.migrate import migrate
from services.runtime.shredding.rows import SQL, arrays
from services.runtime.shredding.store import JobKeys, Pool
from services.runtime.shredding.vault import Vault, new_job_key

TICKS = os.sysconf("SC_CLK_TCK")
PRIVATE = private_bytes({"url": "https://shop.example/products/4711?session=8f14e45f", "metadata": {"order": 17}})


@dataclass(frozen=True, slots=True)
class Cost:
    """Microseconds of CPU that one job takes."""

    name: str
    ours: float
    postgres: float

    def __str__(self) -> str:
        return f"{self.name:48} {self.ours:8.2f} {self.postgres:8.2f}"


class Bench:
    """One org with erasure, and the backend that serves its keys."""

    def __init__(self, pool: Pool, jobs: int, batch: int) -> None:
        self._pool = pool
        self._keys = JobKeys(pool, Vault(new_key()))
        self._org_id = f"bench-{uuid.uuid4().hex[:8]}"
        self._names = [uuid7() for _ in range(jobs)]
        self._batch = batch
        self._sealed: dict[str, bytes] = {}
        self._backend = 0

    async def costs(self) -> list[Cost]:
        """Measure everything that happens to a job on its way, in this order."""
        await self._keys.turn(self._org_id, on=True)
        self._backend = (await self._ask("SELECT pg_backend_pid()"))[0][0]
        return [
            self._codec(),
            await self._measured("submit: a key made, sealed, saved; the job sealed", self._submit),
            await self._measured("read: the key found and opened, the job unsealed", self._read),
            await self._measured("delete: the key destroyed", self._delete),
        ]

    async def bytes_of_a_key(self) -> float:
        """Return what the table of keys takes for each, its index included."""
        [[size, number]] = await self._ask(
            "SELECT pg_total_relation_size('sealing.job_keys'), (SELECT count(*) FROM sealing.job_keys)"
        )
        return float(size) / number

    def _codec(self) -> Cost:
        key, job = new_job_key(), (self._org_id, "job")
        started = time.process_time()
        for _ in self._names:
            unsealed(sealed(PRIVATE, key, job), key, job)
        return Cost("another text of it, sealed and unsealed", self._each(time.process_time() - started), 0.0)

    async def _submit(self, names: Sequence[str]) -> None:
        org_key = await self._keys.org_key(self._org_id)
        self._sealed |= await self._keys.seal(org_key, dict.fromkeys(names, PRIVATE))

    async def _read(self, names: Sequence[str]) -> None:
        for job, key in (await self._keys.of(self._jobs(names))).items():
            unsealed(self._sealed[job[1]], key, job)

    async def _delete(self, names: Sequence[str]) -> None:
        await self._ask(SQL["destroy"], arrays(self._jobs(names)))

    async def _measured(self, name: str, work: Callable[[Sequence[str]], Awaitable[None]]) -> Cost:
        ours, postgres = time.process_time(), _cpu_seconds(self._backend)
        for names in batches(self._names, self._batch):
            await work(names)
        if name.startswith("submit"):
            print(f"{'bytes of a key in Postgres, its index included':48} {await self.bytes_of_a_key():8.0f}")
        return Cost(name, self._each(time.process_time() - ours), self._each(_cpu_seconds(self._backend) - postgres))

    async def _ask(self, statement: str, values: object = None) -> list[tuple[int, ...]]:
        async with self._pool.connection() as connection:
            cursor = await connection.execute(statement, values)  # type: ignore[call-overload]
            return await cursor.fetchall() if cursor.description else []

    def _jobs(self, names: Sequence[str]) -> list[JobKey]:
        return [(self._org_id, name) for name in names]

    def _each(self, seconds: float) -> float:
        return seconds * 1e6 / len(self._names)


def batches(names: Sequence[str], size: int) -> list[Sequence[str]]:
    """Cut names into batches."""
    return [names[at : at + size] for at in range(0, len(names), size)]


def _cpu_seconds(process: int) -> float:
    """Return the CPU that a process has used, in user mode and in the kernel."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


async def _run(dsn: str, jobs: int, batch: int) -> None:
    async with AsyncExitStack() as stack:
        pool: Pool = AsyncConnectionPool(dsn, min_size=1, max_size=1, open=False)
        await stack.enter_async_context(pool)
        print(f"{jobs} jobs in batches of {batch}")
        print(f"{'bytes that sealing adds to a private field':48} {ADDED_BYTES:8}")
        costs = await Bench(pool, jobs, batch).costs()
        print(f"{'CPU microseconds for a job':48} {'ours':>8} {'Postgres':>8}")
        for cost in costs:
            print(cost)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=50_000)
    parser.add_argument("--batch", type=int, default=500)
    given = parser.parse_args()
    with database() as dsn:
        migrate(dsn)
        asyncio.run(_run(dsn, given.jobs, given.batch))
        with psycopg.connect(dsn, autocommit=True) as connection:
            for table in ("job_keys", "org_keys", "orgs"):
                connection.execute(f"DELETE FROM sealing.{table} WHERE org_id LIKE 'bench-%'".encode())


if __name__ == "__main__":
    main()
