"""A Snowflake table as a warehouse: a block is one transaction, and writers of a table take turns.

A transaction first changes the one row of the table's turns, which Snowflake lets one transaction at a time do, and
each statement sees what was committed before it began. So what is read of the generations in the table stays true until
the block is committed, and a stale writer cannot come in between.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence

from services.runtime.networks import Networks
from services.writers.warehouses.addressing import checked_addresses, written_inside
from services.writers.warehouses.piecewise import as_json, json_arrays, write_halving
from services.writers.warehouses.snowflake.session import Session
from services.writers.warehouses.snowflake.settings import HOSTS, SnowflakeSecrets, SnowflakeSettings
from services.writers.warehouses.snowflake.statements import Statements, column_type
from services.writers.warehouses.warehouse import ERASED, Block, Column, ColumnType, JobKey, JobRows, Refusal, Warehouse

BOUND_BYTES = 1_000_000  # of one statement with what is bound: larger ones cannot be looked at, or run, again
ROW_BYTES = 16 * 1024 * 1024  # of one row, which is bound alone: a VARCHAR takes that in every account


def opened(settings: SnowflakeSettings, secrets: SnowflakeSecrets, *, allowed: Networks = ()) -> Warehouse:
    """Return a table; nobody is called yet."""
    return SnowflakeWarehouse(settings, Session(settings, secrets), allowed=allowed)


class SnowflakeWarehouse:
    """One table; its calls block in threads, one at a time."""

    def __init__(self, settings: SnowflakeSettings, session: Session, *, allowed: Networks = ()) -> None:
        self.settings = settings
        self.session = session
        self._allowed = allowed
        self._statements = Statements(settings)
        self._made = False

    async def columns(self) -> Mapping[str, ColumnType]:
        """Return the columns of the table; make it where there is none."""
        await self._check_host()
        return await asyncio.to_thread(self._columns)

    async def add_columns(self, columns: Sequence[Column]) -> None:
        """Add columns that are not there."""
        if columns:
            await self._check_host()
            await asyncio.to_thread(self._run, self._statements.add_columns(columns))

    async def write(self, block: Block) -> Mapping[JobKey, str]:
        """Write a block in one transaction, or in several where the data of a job is refused."""
        await self._check_host()

        async def write(jobs: Sequence[JobRows]) -> None:
            await asyncio.to_thread(self._write, block.columns, jobs)

        return await write_halving(block.jobs, write)

    async def erase(self, jobs: Sequence[JobKey]) -> None:
        """Delete all rows of jobs."""
        if jobs:
            await self._check_host()
            await asyncio.to_thread(self._erase, jobs)

    async def close(self) -> None:
        """Log out."""
        await asyncio.to_thread(self.session.close)

    def _columns(self) -> Mapping[str, ColumnType]:
        self._made = False
        self._make()
        with self.session.statements() as session:
            described = session.execute(self._statements.describe)
        types = {name: column_type(kind) for name, kind, *_ in described if name == name.upper()}
        return {name.lower(): kind for name, kind in types.items() if kind}

    def _make(self) -> None:
        if self._made:
            return
        with self.session.statements() as session:
            for statement in self._statements.make:
                session.execute(statement)
        self._made = True

    def _run(self, statement: str) -> None:
        with self.session.statements() as session:
            session.execute(statement)

    def _write(self, columns: Sequence[Column], jobs: Sequence[JobRows]) -> None:
        """Write jobs whose rows in the table are not newer; an array is bound only while it is sent."""
        self._make()
        insert = self._statements.insert(columns)
        with self.session.transaction() as session:
            self._take_turn(session)
            held = session.execute(self._statements.held, _bound(job.key for job in jobs))
            newest = {JobKey(org_id, job_id): generation for org_id, job_id, generation in held}
            ours = [job for job in jobs if job.generation >= newest.get(job.key, 0)]
            again = [job for job in ours if job.key in newest]
            if again:
                session.execute(self._statements.delete, _replaced(again))
            if without := [job for job in ours if not job.rows]:
                self._gone(session, [(*_names(job.key), job.generation) for job in without])
            for rows in json_arrays([row for job in ours for row in job.rows], BOUND_BYTES - len(insert), ROW_BYTES):
                session.execute(insert, rows)

    def _erase(self, jobs: Sequence[JobKey]) -> None:
        self._make()
        with self.session.transaction() as session:
            self._take_turn(session)
            session.execute(self._statements.delete, _replaced(JobRows(key, ERASED, ()) for key in jobs))
            self._gone(session, [(*_names(key), ERASED) for key in jobs])

    def _gone(self, session: Session, jobs: Sequence[tuple[str, str, int]]) -> None:
        """Keep of jobs without rows which generation they are of."""
        session.execute(self._statements.forget_gone, as_json([job[:2] for job in jobs]))
        session.execute(self._statements.insert_gone, as_json(jobs))

    def _take_turn(self, session: Session) -> None:
        [(changed, *_)] = session.execute(self._statements.take_turn)
        if not changed:
            raise Refusal(f"the table {self.settings.place}_TURNS is empty: drop it, and it is made again")

    async def _check_host(self) -> None:
        """Refuse hosts that are no accounts of Snowflake: the connector resolves names itself, unchecked."""
        host = self.settings.reached_at
        if not host.endswith(HOSTS) and not written_inside(host, self._allowed):
            raise Refusal(f"host must end with {' or '.join(HOSTS)}")
        await checked_addresses(host, allowed=self._allowed)


def _names(key: JobKey) -> tuple[str, str]:
    return key.org_id, key.job_id


def _bound(jobs: Iterable[JobKey]) -> str:
    return as_json([_names(key) for key in jobs])


def _replaced(jobs: Iterable[JobRows]) -> str:
    """Return what is taken away of jobs: a generation takes the place of all before it, an item that of the same."""
    return as_json([(*_names(job.key), job.generation, job.first_item, job.next_item) for job in jobs])
