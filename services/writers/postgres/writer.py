"""Writes extractions to `extraction.extraction_results`, a batch in one transaction; erases deleted jobs."""

from collections.abc import Sequence
from pathlib import Path

import psycopg
from psycopg import AsyncConnection

from services.ledger.reports import DeliveryResult
from services.ledger.tasks import Delivery
from services.runtime.errors import BlobFault
from services.runtime.item_chunks import ITEMS
from services.runtime.postgres_faults import reason_of
from services.writers.reading import Reading
from services.writers.rows import Row, row_id
from services.writers.webhook.attempts import SQL as ATTEMPTS
from services.writers.writer import Bodies, DestinationDown, refused, written

CONNECT_SECONDS = 5
STATEMENT_MS = 30_000
ROW_FAULTS = ("22", "23", "54")  # SQLSTATE classes: data exception, constraint, program limit (nested too deeply)
UPSERT = Path(__file__).with_name("upsert.sql").read_text().encode()
ERASE = Path(__file__).with_name("erase.sql").read_text().encode()
PLACE = "extraction.extraction_results"
SHUT, ERASE_ATTEMPTS = ATTEMPTS["shut"].encode(), ATTEMPTS["erase"].encode()

Key = tuple[str, str]


class PostgresWriter:
    """Keeps the newest generation of each job's extraction; connects when it has to write.

    Of a deleted job it takes away the row and every body, whatever wrote them.
    """

    def __init__(self, dsn: str, bodies: Bodies) -> None:
        self._dsn = dsn
        self._bodies = bodies
        self._reading = Reading(bodies)
        self._connection: AsyncConnection | None = None

    async def close(self) -> None:
        """Close the connection."""
        if self._connection:
            await self._connection.close()
            self._connection = None

    async def write(self, deliveries: Sequence[Delivery]) -> list[DeliveryResult]:
        """Write a batch: rows that Postgres refuses are refused alone; DestinationDown when it does not work at all."""
        erasures = {_key(each): each for each in deliveries if each.erase}
        written_to = [each for each in deliveries if not each.erase]
        results = iter(await self._write(written_to))
        await self._erase([erasures[key] for key in sorted(erasures)])
        return [written(each, rows=0) if each.erase else next(results) for each in deliveries]

    async def _write(self, deliveries: Sequence[Delivery]) -> list[DeliveryResult]:
        read = await self._reading.rows_of(deliveries)
        newest: dict[Key, Row] = {}
        for row in read:
            if isinstance(row, Row) and row.delivery.generation >= _generation(newest.get(row.key)):
                newest[row.key] = row
        faults = await self._stored(sorted(newest.values(), key=lambda row: row.key)) if newest else {}
        return [each if isinstance(each, DeliveryResult) else _result(each, faults) for each in read]

    async def _erase(self, erasures: Sequence[Delivery]) -> None:
        """Take away rows, then what endpoints answered and bodies: after the rows nobody reads or logs them."""
        if not erasures:
            return
        columns = {
            "id": [row_id(each) for each in erasures],
            "org_id": [each.org_id for each in erasures],
            "job_id": [each.job_id for each in erasures],
        }
        try:
            connection = await self._connected()
            await connection.execute(ERASE, columns)
            async with connection.transaction():
                await connection.execute(SHUT)
                await connection.execute(ERASE_ATTEMPTS, columns)
            for each in erasures:
                await self._bodies.delete_job(each.org_id, each.job_id, ITEMS if each.items_kept else "")
                if each.chain_id not in ("", each.job_id) and not each.items_kept:  # the last of its chain
                    await self._bodies.delete_job(each.org_id, each.chain_id)
        except psycopg.Error as error:
            await self._forget()
            raise DestinationDown(f"Postgres: {reason_of(error)}") from error
        except BlobFault as error:
            raise DestinationDown(f"the blob store failed: {error}") from error

    async def _stored(self, rows: Sequence[Row]) -> dict[Key, psycopg.Error]:
        """Store rows in one transaction and return which of them Postgres refused, and why."""
        try:
            connection = await self._connected()
            async with connection.transaction():
                return await _upsert(connection, rows)
        except psycopg.Error as error:
            await self._forget()
            raise DestinationDown(f"Postgres: {reason_of(error)}") from error

    async def _connected(self) -> AsyncConnection:
        if self._connection is None or self._connection.closed:
            self._connection = await AsyncConnection.connect(
                self._dsn,
                autocommit=True,
                connect_timeout=CONNECT_SECONDS,
                options=f"-c statement_timeout={STATEMENT_MS} -c application_name=jobledger-writer",
            )
        return self._connection

    async def _forget(self) -> None:
        connection, self._connection = self._connection, None
        if connection:
            await connection.close()


async def _upsert(connection: AsyncConnection, rows: Sequence[Row]) -> dict[Key, psycopg.Error]:
    """Store rows; where one is refused, halve until it stands alone, so that the others are stored."""
    columns = [row.columns() for row in rows]
    try:
        async with connection.transaction():
            await connection.execute(UPSERT, {name: [each[name] for each in columns] for name in columns[0]})
        return {}
    except psycopg.Error as error:
        if not _is_row_fault(error):
            raise
        if len(rows) == 1:
            return {rows[0].key: error}
    middle = len(rows) // 2
    return await _upsert(connection, rows[:middle]) | await _upsert(connection, rows[middle:])


def _is_row_fault(error: psycopg.Error) -> bool:
    """Whether it is the data that Postgres refuses; psycopg itself refuses some before they are sent."""
    return (error.sqlstate or "")[:2] in ROW_FAULTS or isinstance(error, psycopg.DataError)


def _key(delivery: Delivery) -> Key:
    return delivery.org_id, delivery.job_id


def _generation(row: Row | None) -> int:
    return row.delivery.generation if row else 0


def _result(row: Row, faults: dict[Key, psycopg.Error]) -> DeliveryResult:
    fault = faults.get(row.key)
    return refused(row.delivery, "row_refused", str(fault)) if fault else written(row.delivery, place=PLACE)
