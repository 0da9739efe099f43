"""One table in a customer's ClickHouse: rows are inserted, and then which generation of their jobs counts."""

import hashlib
from collections.abc import Mapping, Sequence

import msgspec

from services.runtime.networks import Networks
from services.writers.warehouses.calls import Calls
from services.writers.warehouses.clickhouse_customer import statements
from services.writers.warehouses.clickhouse_customer.rows import lines_of, rows_of
from services.writers.warehouses.clickhouse_customer.server import Server, listed
from services.writers.warehouses.clickhouse_customer.settings import ClickHousePassword, ClickHouseSettings
from services.writers.warehouses.piecewise import write_halving
from services.writers.warehouses.warehouse import Block, Column, ColumnType, JobKey, JobRows, Refusal

NONE_NEWER = (1 << 63) - 1  # the generation that counts of a job that was erased: nothing that comes late is shown


class ClickHouseWarehouse:
    """Implements Warehouse."""

    def __init__(self, settings: ClickHouseSettings, password: ClickHousePassword, *, allowed: Networks) -> None:
        self._table = settings.table
        self._server = Server(settings, password, Calls(allowed=allowed))
        self._made = False  # whether there are tables and view, as far as this process knows

    async def close(self) -> None:
        """Close the connections."""
        await self._server.close()

    async def columns(self) -> Mapping[str, ColumnType]:
        """Make tables and view where they are missing, and return the columns."""
        await self._server.command(statements.make_rows(self._table))
        await self._server.command(statements.SQL["make_generations"].format(table=self._table))
        return await self._renewed()

    async def add_columns(self, columns: Sequence[Column]) -> None:
        """Add what is missing, and show it."""
        await self._server.command(statements.add_columns(self._table, columns))
        await self._renewed()

    async def write(self, block: Block) -> Mapping[JobKey, str]:
        """Write a block; what ClickHouse refuses is found by halving."""
        await self._ready(block.columns)
        lines: dict[JobKey, bytes] = {}
        refused: dict[JobKey, str] = {}
        conversions = rows_of(block.columns)
        for job in block.jobs:
            try:
                lines[job.key] = lines_of(job.rows, conversions)
            except ValueError as error:
                refused[job.key] = str(error)
        names = [column.name for column in block.columns]

        async def write(jobs: Sequence[JobRows]) -> None:
            await self._stored(names, jobs, b"".join(lines[job.key] for job in jobs))

        return refused | await write_halving([job for job in block.jobs if job.key in lines], write)

    async def erase(self, jobs: Sequence[JobKey]) -> None:
        """Take jobs away, and whatever comes of them late."""
        await self._ready()
        await self._count(jobs, [NONE_NEWER] * len(jobs))
        await self._clean(jobs)

    async def _ready(self, columns: Sequence[Column] = ()) -> None:
        """Look at the tables where nobody has yet, or a statement has failed: an owner may drop them."""
        if not self._made:
            found = await self.columns()
            if missing := [column for column in columns if column.name not in found]:
                await self.add_columns(missing)

    async def _renewed(self) -> Mapping[str, ColumnType]:
        """Let the view show what the table has, and return what that is."""
        rows = self._table + statements.ROWS
        found = await self._server.rows(statements.SQL["find_columns"].format(table=self._table))
        held = [column for table, *column in found if table == rows]
        names = [name for name, *_ in held]
        if names != [name for table, name, *_ in found if table == self._table]:
            if await self._server.rows(statements.SQL["find_other"].format(table=self._table)):
                raise Refusal(f"there is a table {self._table} already, which is none of ours: choose another name")
            await self._server.command(statements.make_view(self._table, names))
        self._made = True
        return statements.columns_of(held)

    async def _stored(self, names: Sequence[str], jobs: Sequence[JobRows], body: bytes) -> None:
        self._made = False
        if body:
            token = hashlib.blake2b(repr(names).encode() + body, digest_size=16).hexdigest()
            await self._server.insert(self._table + statements.ROWS, names, body, token)
        await self._count([job.key for job in jobs], [job.generation for job in jobs])
        await self._clean([job.key for job in jobs])
        self._made = True

    async def _count(self, jobs: Sequence[JobKey], generations: Sequence[int]) -> None:
        """Let generations count, where no newer ones do."""
        rows = zip(jobs, generations, strict=True)
        body = b"\n".join(msgspec.json.encode([key.org_id, key.job_id, generation]) for key, generation in rows)
        token = hashlib.blake2b(body, digest_size=16).hexdigest()
        columns = ["_org_id", "_job_id", "_generation"]
        await self._server.insert(self._table + statements.GENERATIONS, columns, body, token)

    async def _clean(self, jobs: Sequence[JobKey]) -> None:
        """Take away rows that are not shown: in one statement, and none where there are none, as it reads all parts."""
        named, parameters = listed([(key.org_id, key.job_id) for key in jobs])
        asked = statements.SQL["find_stale"].format(table=self._table, jobs=named)
        found = await self._server.rows(asked, parameters)
        if found:
            stale, parameters = listed([(org_id, job_id, int(generation)) for org_id, job_id, generation in found])
            await self._server.command(statements.SQL["erase_stale"].format(table=self._table, stale=stale), parameters)
