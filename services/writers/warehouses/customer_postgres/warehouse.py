"""One table in a customer's Postgres: the rows of a block take the place of those before, in one transaction.

Which generation each job has stands in a table beside it, whose rows writers lock in the order of their keys. It also
remembers jobs that have no rows, and those that were erased, of which nothing comes back.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import psycopg
from psycopg import AsyncConnection

from services.runtime.networks import Networks
from services.writers.warehouses.addressing import checked_addresses
from services.writers.warehouses.customer_postgres.copying import copied
from services.writers.warehouses.customer_postgres.faults import connect_fault_of, fault_of
from services.writers.warehouses.customer_postgres.settings import PostgresSecrets, PostgresSettings
from services.writers.warehouses.customer_postgres.statements import READ, SYSTEM, Statements
from services.writers.warehouses.piecewise import DataFault, write_halving
from services.writers.warehouses.warehouse import (
    ERASED,
    JOB_COLUMNS,
    Block,
    Column,
    ColumnType,
    JobKey,
    JobRows,
)

CONNECT_SECONDS = 5
STATEMENT_MS = 60_000
SILENT_MS = 15_000  # that the server may leave what was sent without an answer of TCP


class PostgresWarehouse:
    """Implements Warehouse; connects when it is asked something, and anew after every fault."""

    def __init__(self, settings: PostgresSettings, secrets: PostgresSecrets, *, allowed: Networks = ()) -> None:
        self._settings = settings
        self._secrets = secrets
        self._allowed = allowed
        self._statements = Statements(settings)
        self._connection: AsyncConnection | None = None
        self._made = False

    async def close(self) -> None:
        """Close the connection."""
        connection, self._connection = self._connection, None
        if connection:
            await connection.close()

    async def columns(self) -> Mapping[str, ColumnType]:
        """Return the columns; make what is missing of the table and what stands beside it."""
        async with self._asking() as connection:
            found = await self._columns(connection)
            if not await self._complete(connection, found):
                await self._make(connection)
                found = await self._columns(connection)
        self._made = True
        return {name: READ[kind] for name, kind in found.items() if kind in READ}

    async def add_columns(self, columns: Sequence[Column]) -> None:
        """Add columns, but none that every table has of its own; writers that do so at once take turns."""
        await self._ready()
        if free := [column for column in columns if column.name not in SYSTEM]:
            async with self._asking() as connection, connection.transaction():
                await connection.execute(self._statements.lock_schema, self._statements.values)
                await connection.execute(self._statements.add_columns(free))

    async def write(self, block: Block) -> Mapping[JobKey, str]:
        """Write a block in one transaction, or in several where the rows of jobs are refused."""
        await self._ready()
        copy = self._statements.copy_rows(block.columns)

        async def write(jobs: Sequence[JobRows]) -> None:
            try:
                async with connection.transaction():
                    taken = await self._cleared(connection, jobs)
                    rows = [row for job in jobs if job.key in taken for row in job.rows]
                    if rows:
                        async with connection.cursor() as cursor, cursor.copy(copy) as copying:
                            await copying.write(copied(block.columns, rows))
            except ValueError as error:
                raise DataFault(str(error)) from None
            except psycopg.Error as error:
                raise fault_of(error) from error

        async with self._asking() as connection:
            return await write_halving(block.jobs, write)

    async def erase(self, jobs: Sequence[JobKey]) -> None:
        """Take rows away, and note that nothing of these jobs is to come back."""
        await self._ready()
        if jobs:
            async with self._asking() as connection, connection.transaction():
                await self._cleared(connection, [JobRows(key, ERASED, ()) for key in sorted(set(jobs))])

    async def _cleared(self, connection: AsyncConnection, jobs: Sequence[JobRows]) -> set[JobKey]:
        """Take away what comes anew of those jobs that the table has nothing newer of, and return which they are."""
        cursor = await connection.execute(self._statements.take_jobs, _values(jobs))
        taken = {JobKey(*row) for row in await cursor.fetchall()}
        await connection.execute(self._statements.delete_rows, _values([job for job in jobs if job.key in taken]))
        return taken

    async def _ready(self) -> None:
        if not self._made:
            await self.columns()

    async def _columns(self, connection: AsyncConnection) -> dict[str, str]:
        cursor = await connection.execute(self._statements.columns, self._statements.values)
        return {str(name): str(kind) for name, kind in await cursor.fetchall()}

    async def _complete(self, connection: AsyncConnection, found: Mapping[str, str]) -> bool:
        if any(column.name not in found for column in JOB_COLUMNS):
            return False
        cursor = await connection.execute(self._statements.there_are, self._statements.values)
        row = await cursor.fetchone()
        return bool(row and row[0])

    async def _make(self, connection: AsyncConnection) -> None:
        async with connection.transaction():
            await connection.execute(self._statements.lock_schema, self._statements.values)
            await connection.execute(self._statements.make_table)
            await connection.execute(self._statements.add_columns(JOB_COLUMNS))
            await connection.execute(self._statements.make_key)
            await connection.execute(self._statements.make_jobs)

    @asynccontextmanager
    async def _asking(self) -> AsyncIterator[AsyncConnection]:
        """Lend the connection; whatever goes wrong, the next one who asks gets another."""
        try:
            if self._connection is None or self._connection.closed:
                self._connection = await self._connected()
            yield self._connection
        except BaseException as error:
            await self.close()
            if isinstance(error, psycopg.Error):
                raise fault_of(error) from error
            raise

    async def _connected(self) -> AsyncConnection:
        settings = self._settings
        addresses = await checked_addresses(settings.host, allowed=self._allowed)
        options: dict[str, Any] = {"sslrootcert": "system"} if settings.sslmode == "verify-full" else {}
        try:
            return await AsyncConnection.connect(
                host=",".join([settings.host] * len(addresses)),  # whom a certificate is for
                hostaddr=",".join(addresses),
                port=settings.port,
                dbname=settings.database,
                user=settings.user,
                password=self._secrets.password,
                sslmode=settings.sslmode,
                gssencmode="disable",
                connect_timeout=CONNECT_SECONDS,
                tcp_user_timeout=SILENT_MS,
                options=f"-c statement_timeout={STATEMENT_MS} -c lock_timeout={STATEMENT_MS}",
                application_name="jobledger",
                client_encoding="utf8",
                autocommit=True,
                **options,
            )
        except psycopg.Error as error:
            raise connect_fault_of(error) from error


def _values(jobs: Sequence[JobRows]) -> dict[str, list[Any]]:
    return {
        "org_ids": [job.key.org_id for job in jobs],
        "job_ids": [job.key.job_id for job in jobs],
        "generations": [job.generation for job in jobs],
        "first_items": [job.first_item for job in jobs],
        "next_items": [job.next_item for job in jobs],
    }
