"""Two ways to write the same rows, for each kind: its writer, and its driver alone. Each begins with a fresh table.

The driver is given the rows as values that are made before, and does the least that brings them to the server: one
COPY, one INSERT, one POST a batch. Where a server is played, the POST goes to a sink that answers at once.
"""

import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import msgspec
from psycopg import AsyncConnection
from yarl import URL

from bench.warehouses.opened import Servers, opened, postgres_settings, snowflake_session
from bench.warehouses.work import Work
from services.runtime.clickhouse import connect, migrate
from services.runtime.networks import LOCAL
from services.writers.clickhouse.writer import APPLIED, MIGRATIONS, TABLE, ClickHouseWriter
from services.writers.postgres.writer import UPSERT, PostgresWriter
from services.writers.reading import ItemReading, Reading
from services.writers.rows import Row
from services.writers.warehouses.calls import Calls
from services.writers.warehouses.customer_postgres import statements as postgres
from services.writers.warehouses.kinds import KINDS
from services.writers.warehouses.snowflake import statements as snowflake
from services.writers.warehouses.table import Table
from services.writers.warehouses.warehouse import JOB_COLUMNS, Block, Column, ColumnType, JobKey
from services.writers.writer import Writer

MIGRATION_SECONDS = 60
TIME = "2023-11-14 22:13:20.123456+00"
Write = Callable[[int], Awaitable[None]]  # writes the batch with this number
Way = Callable[[Servers, Work], AbstractAsyncContextManager[Write]]


def fresh() -> str:
    """Return the name of a table that is not there."""
    return f"t{uuid.uuid4().hex[:12]}"


@asynccontextmanager
async def postgres_writer(servers: Servers, work: Work) -> AsyncIterator[Write]:
    """The writer of our store."""
    async with _internal(PostgresWriter(servers.postgres, work), work) as write:
        yield write


@asynccontextmanager
async def clickhouse_writer(servers: Servers, work: Work) -> AsyncIterator[Write]:
    """The writer of our ClickHouse."""
    async with _internal(ClickHouseWriter(servers.clickhouse, work, MIGRATION_SECONDS), work) as write:
        yield write


@asynccontextmanager
async def _internal(writer: Writer, work: Work) -> AsyncIterator[Write]:
    async def write(number: int) -> None:
        if any(each.error_type for each in await writer.write(work.batches[number])):
            raise RuntimeError("a delivery was refused")

    try:
        yield write
    finally:
        await writer.close()


def warehouse_writer(kind: str) -> Way:
    """The writer of a kind of customers' warehouses."""

    @asynccontextmanager
    async def way(servers: Servers, work: Work) -> AsyncIterator[Write]:
        table, reading = Table(KINDS[kind], opened(kind, servers, fresh())), ItemReading(work)

        async def write(number: int) -> None:
            async for told in table.write(await reading.rows_of(work.batches[number])):
                if any(each.error_type for each in told.values()):
                    raise RuntimeError("a delivery was refused")

        try:
            yield write
        finally:
            await table.close()

    return way


@asynccontextmanager
async def upserted(servers: Servers, work: Work) -> AsyncIterator[Write]:
    """The statement of the writer of our store."""
    rows = [[row.columns() for row in each] for each in await _rows(work)]
    columns = [{name: [row[name] for row in each] for name in each[0]} for each in rows]
    async with await AsyncConnection.connect(servers.postgres, autocommit=True) as connection:

        async def write(number: int) -> None:
            await connection.execute(UPSERT, columns[number])

        yield write


@asynccontextmanager
async def inserted(servers: Servers, work: Work) -> AsyncIterator[Write]:
    """An insert into the table of our ClickHouse."""
    rows = [[row.columns() for row in each] for each in await _rows(work)]
    migrate(servers.clickhouse, MIGRATIONS, APPLIED, MIGRATION_SECONDS)
    client = connect(servers.clickhouse)

    async def write(number: int) -> None:
        client.raw_insert(TABLE, insert_block=b"\n".join(map(msgspec.json.encode, rows[number])), fmt="JSONEachRow")

    try:
        yield write
    finally:
        client.close()


@asynccontextmanager
async def copied(servers: Servers, work: Work) -> AsyncIterator[Write]:
    """COPY into a table of a customer's Postgres."""
    columns, rows = await _blocks(work)
    statements = postgres.Statements(postgres_settings(servers, fresh()))
    times = {at: TIME for at, each in enumerate(columns) if each.type is ColumnType.TIMESTAMP}
    rows = [[[times.get(at, value) for at, value in enumerate(row)] for row in each] for each in rows]
    async with await AsyncConnection.connect(servers.postgres, autocommit=True) as connection:
        await connection.execute(statements.make_table)
        await connection.execute(statements.add_columns(columns[len(JOB_COLUMNS) :]))
        copy = statements.copy_rows(columns)

        async def write(number: int) -> None:
            async with connection.cursor() as cursor, cursor.copy(copy) as copying:
                for row in rows[number]:
                    await copying.write_row(row)

        yield write


@asynccontextmanager
async def bound(servers: Servers, work: Work) -> AsyncIterator[Write]:
    """A statement of Snowflake's connector that inserts rows which are bound as JSON."""
    columns, rows = await _blocks(work)
    settings, session = snowflake_session(servers, fresh())
    statements = snowflake.Statements(settings)
    with session.statements():
        for statement in (*statements.make, statements.add_columns(columns[len(JOB_COLUMNS) :])):
            session.execute(statement)
        insert = statements.insert(columns)

        async def write(number: int) -> None:
            session.execute(insert, msgspec.json.encode(rows[number]).decode())

        yield write
    session.close()


@asynccontextmanager
async def posted(servers: Servers, work: Work) -> AsyncIterator[Write]:
    """One POST of rows as JSON, a line for each."""
    _, rows = await _blocks(work)
    calls, sink = Calls(allowed=LOCAL), URL(servers.sink)

    async def write(number: int) -> None:
        body = b"\n".join(map(msgspec.json.encode, rows[number]))
        await calls.call("POST", sink, headers={}, body=body)

    try:
        yield write
    finally:
        await calls.close()


WAYS: Mapping[str, tuple[Way, Way]] = {  # by kind: its writer, and the floor
    "postgres": (postgres_writer, upserted),
    "clickhouse": (clickhouse_writer, inserted),
    "customer_postgres": (warehouse_writer("customer_postgres"), copied),
    "customer_clickhouse": (warehouse_writer("customer_clickhouse"), posted),
    "bigquery": (warehouse_writer("bigquery"), posted),
    "snowflake": (warehouse_writer("snowflake"), bound),
    "databricks": (warehouse_writer("databricks"), posted),
}


class _Noted:
    """A warehouse that only keeps what it is given."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self._columns = {column.name: column.type for column in JOB_COLUMNS}

    async def columns(self) -> Mapping[str, ColumnType]:
        return self._columns

    async def add_columns(self, columns: Sequence[Column]) -> None:
        self._columns |= {column.name: column.type for column in columns}

    async def write(self, block: Block) -> Mapping[JobKey, str]:
        self.blocks.append(block)
        return {}

    async def erase(self, jobs: Sequence[JobKey]) -> None:
        return

    async def close(self) -> None:
        return


async def _rows(work: Work) -> list[list[Row]]:
    reading = Reading(work)
    return [[row for row in await reading.rows_of(batch) if isinstance(row, Row)] for batch in work.batches]


async def _blocks(work: Work) -> tuple[Sequence[Column], list[list[Any]]]:
    """Return the columns of the rows that the writer makes, and the rows of each batch."""
    noted = _Noted()
    table = Table(KINDS["customer_postgres"], noted)
    made = []
    for batch in await _rows(work):
        noted.blocks.clear()
        async for _ in table.write(batch):
            pass
        made.append([row for block in noted.blocks for job in block.jobs for row in job.rows])
    return noted.blocks[0].columns, made
