"""Warehouses of customers, as their writer may count on them: they fail before, after and in the middle of a write.

Each org that has one has a table. A write that nobody waits for any more may land later, behind newer ones.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import psycopg

from schemas.values import Destination, OnExhausted
from services.runtime.kept_secrets import Owner, sealed_for
from services.runtime.sealing import Sealer
from services.writers.warehouses.stored import Name, StoredDestination
from services.writers.warehouses.warehouse import (
    ERASED,
    JOB_COLUMNS,
    Block,
    Column,
    ColumnType,
    JobKey,
    JobRows,
    Refusal,
)
from services.writers.writer import DestinationDown
from tests.simulation.chaos import Chaos
from tests.simulation.life import as_the_world, current
from tests.simulation.story import AT_CUSTOMERS, Story

KIND = "customer_postgres"
OWN = "own"  # what the destination is called
CREDENTIALS_KEY = "A" * 43 + "="
WRITE_SECONDS = 4.0  # until the writer gives a call up
LATE_SECONDS = 9.0  # that a write may land late by
TROUBLED = 0.15  # how often each kind of trouble comes, as long as there is any left
Key = tuple[str, str]  # org and job
Trouble = Literal[
    "down_before",  # it writes nothing
    "down_after",  # it has written, but the writer is told that it has not
    "partly",  # it has written some of the jobs
    "hangs",  # it says nothing, and what it was given lands later
    "refuses",  # for a reason that its owner has to mend
    "refuses_rows",  # of a job
    "closed",  # its destination is disabled for a while
    "changed",  # the settings of its destination are others from now on
]


@dataclass(slots=True)
class House:
    """One table: its rows, and beside it which generation it has of each job."""

    rows: list[tuple[Key, int, int]] = field(default_factory=list)  # with item and generation
    generations: dict[Key, int] = field(default_factory=dict)
    columns: dict[str, ColumnType] = field(default_factory=dict)
    version: int = 1  # of its settings

    def take(self, jobs: Sequence[JobRows]) -> None:
        """Put rows in the place of older ones and of the same items, but of jobs that it has a newer generation of."""
        for job in jobs:
            key = job.key.org_id, job.key.job_id
            if job.generation >= self.generations.get(key, 0):
                self.generations[key] = job.generation
                same = range(job.first_item, job.next_item)
                self.rows = [
                    row for row in self.rows if row[0] != key or (row[2] == job.generation and row[1] not in same)
                ]
                self.rows += [(key, int(row[2] or 0), job.generation) for row in job.rows]


class Houses:
    """The tables of all orgs that have one, and where they are configured."""

    def __init__(self, chaos: Chaos, orgs: Sequence[str]) -> None:
        self.tables = {org: House() for org in orgs}
        self.stored: dict[tuple[str, str, str, int], float] = {}  # since when a delivery is there, in seconds
        self.erased: dict[Key, float] = {}
        self.chaos = chaos
        self.troubles = Counter[Trouble]()
        self._left = chaos.random.choice((0, 3, 12))  # troubles of this seed, also when the storm is over
        self._sealer = Sealer(CREDENTIALS_KEY)

    def destination(self, org: str) -> tuple[Destination, ...]:
        """Return what a job of an org may be delivered to beside other places."""
        random = self.chaos.random
        own = Destination(
            destination_id=OWN,
            kind=KIND,
            gating=random.random() < 0.7,
            on_exhausted=random.choice((*OnExhausted,)),
            gate_seconds=random.choice((8, 20)),
        )
        return (own,) if org in self.tables and random.random() < 0.8 else ()

    def troubled(self, trouble: Trouble) -> bool:
        """Whether this trouble comes here."""
        comes = self._left > 0 and self.chaos.random.random() < TROUBLED
        self._left -= comes
        self.troubles[trouble] += comes
        return comes

    async def looked_up(self, name: Name) -> StoredDestination | None:
        """Stand for the look-up in Postgres; at times a destination is found disabled, or changed."""
        current().check()
        await asyncio.sleep(self.chaos.latency())
        if self.chaos.strikes("read_model_down_before"):
            raise psycopg.OperationalError("simulated: the configuration is away")
        org, destination_id = name
        table = self.tables.get(org)
        if table is None or destination_id != OWN:
            return None
        table.version += self.troubled("changed")
        settings = {"host": "house", "database": org, "user": "us", "table": "items"}
        sealed, _ = sealed_for(self._sealer, Owner("warehouse", *name), {"password": "x"})
        return StoredDestination(KIND, not self.troubled("closed"), settings, sealed, table.version)

    def opened(self, settings: Any, _secrets: Any, **_: Any) -> "Warehouse":
        """Open the table of a destination."""
        return Warehouse(self, self.tables[settings.database])

    def differences(self, jobs: Mapping[str, Story]) -> Iterator[str]:
        """Compare each table with what the log says: of each job the newest generation that it acknowledged, once."""
        held: defaultdict[Key, list[tuple[int, int]]] = defaultdict(list)
        for table in self.tables.values():
            for key, item, generation in table.rows:
                held[key].append((item, generation))
        for key in held:
            if key[1] not in jobs:
                yield f"{key} is no job, and a warehouse has {held[key]}"
        for name, job in jobs.items():
            yield from _faults(name, job, held.get((job.org_id, name), []))


class Warehouse:
    """Stands for a `services.writers.warehouses.warehouse.Warehouse`."""

    def __init__(self, houses: Houses, house: House) -> None:
        self._houses, self._house, self._chaos = houses, house, houses.chaos
        self._life = current()

    async def columns(self) -> Mapping[str, ColumnType]:
        """Return the columns."""
        await self._call()
        self._house.columns |= {column.name: column.type for column in JOB_COLUMNS}
        return dict(self._house.columns)

    async def add_columns(self, columns: Sequence[Column]) -> None:
        """Add columns."""
        await self._call()
        for column in columns:
            self._house.columns.setdefault(column.name, column.type)

    async def write(self, block: Block) -> Mapping[JobKey, str]:
        """Write a block: all that is not refused, half of it, or nothing; or all of it later."""
        await self._call()
        unknown = [column for column in block.columns if self._house.columns.get(column.name) is not column.type]
        assert not unknown, f"rows come with columns that the table has not: {unknown}"
        refused = {job.key: "simulated" for job in block.jobs if self._houses.troubled("refuses_rows")}
        jobs = [job for job in block.jobs if job.key not in refused]
        if self._houses.troubled("partly"):
            self._take(jobs[: len(jobs) // 2])
            raise DestinationDown("simulated: in the middle")
        if self._houses.troubled("hangs"):
            late = self._chaos.random.uniform(0.0, LATE_SECONDS)
            as_the_world(lambda: asyncio.get_running_loop().call_later(late, self._take, jobs))
            await asyncio.sleep(10 * WRITE_SECONDS)
        self._take(jobs)
        await self._answer()
        return refused

    async def erase(self, jobs: Sequence[JobKey]) -> None:
        """Take rows away for good."""
        await self._call()
        self._house.take([JobRows(key, ERASED, ()) for key in jobs])
        for key in jobs:
            self._houses.erased.setdefault((key.org_id, key.job_id), asyncio.get_running_loop().time())
        await self._answer()

    async def close(self) -> None:
        """Let go of it."""
        self._life.check()

    async def _call(self) -> None:
        self._life.check()
        await asyncio.sleep(self._chaos.latency())
        self._life.check()
        if self._houses.troubled("down_before"):
            raise DestinationDown("simulated: before")
        if self._houses.troubled("refuses"):
            raise Refusal("simulated: its owner has to look")

    async def _answer(self) -> None:
        if self._houses.troubled("down_after"):
            raise DestinationDown("simulated: after")
        await asyncio.sleep(self._chaos.latency())

    def _take(self, jobs: Sequence[JobRows]) -> None:
        self._house.take(jobs)
        now = asyncio.get_running_loop().time()
        for job in jobs:
            for generation in range(1, job.generation + 1):  # nothing is missing of those that it has overtaken
                self._houses.stored.setdefault((job.key.org_id, job.key.job_id, OWN, generation), now)


def _faults(name: str, job: Story, rows: Sequence[tuple[int, int]]) -> Iterator[str]:
    told = {generation: each for (place, generation), each in job.deliveries.items() if place == OWN}
    acked = max((generation for generation, each in told.items() if each.ack), default=0)
    if job.deleted:
        erased = [each for (place, _), each in job.deliveries.items() if place == AT_CUSTOMERS]
        if rows and not any(each.over for each in erased):
            yield f"{name} is deleted, its customer's warehouse has {rows}"
        return
    generations = {generation for _, generation in rows}
    if generations - told.keys() or (acked and told[acked].rows and max(generations, default=0) < acked):
        yield f"{name}: generation {acked} is acknowledged, of {list(told)}, its customer's warehouse has {rows}"
    if len(generations) > 1 or max(Counter(rows).values(), default=1) > 1:
        yield f"{name}: its customer's warehouse has rows more than once: {rows}"
    if acked and generations == {acked} and len(rows) != told[acked].rows:
        yield f"{name}: {told[acked].rows} rows are acknowledged, its customer's warehouse has {rows}"
