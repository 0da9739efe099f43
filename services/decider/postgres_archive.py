"""The read model in Postgres as the archive of the deciders of one process.

Whoever decides never waits long for Postgres: how far it is, is asked beside, and a load is given up after a while.
"""

import asyncio
import contextlib
import logging
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg import Connection, IsolationLevel, sql
from psycopg.errors import UndefinedTable
from psycopg.rows import dict_row

from services.decider.archive import ArchiveAway
from services.decider.archived_rows import deleted_job, job_of
from services.ledger.job import Job
from services.runtime.postgres_faults import reason_of
from services.runtime.sql import blocks

SQL = blocks(Path(__file__).with_name("archive.sql"))
LOOK_SECONDS = 1.0
LOAD_SECONDS = 2.0
PAUSE_SECONDS = 5.0  # after a load that was given up: until then nothing waits for Postgres again
CONNECT_SECONDS = 2
STATEMENT_MS = 2000

log = logging.getLogger(__name__)


class PostgresArchive:
    """Loads jobs by a thread of its own, one at a time; `watch` keeps the positions fresh."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._positions: dict[int, int] = {}
        self._loader = ThreadPoolExecutor(1, thread_name_prefix="archive")
        self._connection: Connection[dict[str, Any]] | None = None
        self._away_until = 0.0

    def of(self, partition: int) -> "PartitionArchive":
        """Return the archive of one partition."""
        return PartitionArchive(self, partition)

    async def watch(self) -> None:
        """Look every second how far Postgres has the log, until cancelled."""
        while True:
            try:
                await asyncio.to_thread(self.look)
            except psycopg.Error as error:
                log.warning("archive not reached, ended jobs stay in memory", extra={"reason": reason_of(error)})
            await asyncio.sleep(LOOK_SECONDS)

    def look(self) -> None:
        """See how far Postgres has the log."""
        with self._connect() as connection:
            rows = connection.execute(SQL["positions"]).fetchall()
        self._positions = {row["partition"]: row["position"] for row in rows}

    def position(self, partition: int) -> int:
        """Return up to which position Postgres has a partition, as last seen."""
        return self._positions.get(partition, 0)

    def load(self, partition: int, org_id: str, job_id: str, position: int) -> Job | None:
        """Return a job, None where there is none; raise ArchiveAway where that cannot be told in time."""
        if time.monotonic() < self._away_until:
            raise ArchiveAway("Postgres does not answer")
        loading = self._loader.submit(self._load, partition, org_id, job_id, position)
        try:
            return loading.result(LOAD_SECONDS)
        except TimeoutError:
            loading.cancel()
            self._away_until = time.monotonic() + PAUSE_SECONDS
            raise ArchiveAway(f"Postgres did not answer within {LOAD_SECONDS:g} s") from None
        except psycopg.Error as error:
            raise ArchiveAway(f"Postgres: {reason_of(error)}") from error

    def close(self) -> None:
        """Let go of Postgres, behind a load that may still be under way."""
        self._loader.submit(self._disconnect)
        self._loader.shutdown(wait=False, cancel_futures=False)

    def _load(self, partition: int, org_id: str, job_id: str, position: int) -> Job | None:
        try:
            return self._find(partition, org_id, job_id, position)
        except UndefinedTable:  # a rebuild has replaced the version that the connection follows
            return self._find(partition, org_id, job_id, position)

    def _find(self, partition: int, org_id: str, job_id: str, position: int) -> Job | None:
        try:
            if self._connection is None or self._connection.closed:
                self._connection = self._connect()
            with self._connection.transaction():
                return _found(self._connection, partition, (org_id, job_id), position)
        except psycopg.Error:
            self._disconnect()
            raise

    def _connect(self) -> Connection[dict[str, Any]]:
        connection = psycopg.connect(
            self._dsn,
            autocommit=True,
            row_factory=dict_row,
            connect_timeout=CONNECT_SECONDS,
            options=f"-c statement_timeout={STATEMENT_MS} -c TimeZone=UTC -c application_name=jobledger-archive",
        )
        connection.isolation_level = IsolationLevel.REPEATABLE_READ
        connection.read_only = True
        active = connection.execute(SQL["active_schema"]).fetchone()
        schema = active["schema_name"] if active else ""
        connection.execute(sql.SQL("SET search_path TO {}").format(sql.Identifier(schema)))
        return connection

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(psycopg.Error):
                connection.close()


@dataclass(frozen=True, slots=True)
class PartitionArchive:
    """The archive of one partition."""

    whole: PostgresArchive
    partition: int

    def position(self) -> int:
        """Return up to which position Postgres has the log, as last seen."""
        return self.whole.position(self.partition)

    def load(self, org_id: str, job_id: str, position: int) -> Job | None:
        """Return a job as of this position or later."""
        return self.whole.load(self.partition, org_id, job_id, position)


def _found(connection: Connection[dict[str, Any]], partition: int, key: tuple[str, str], position: int) -> Job | None:
    at = connection.execute(SQL["position"], (partition,)).fetchone()
    reached = at["position"] if at else 0
    if reached < position:  # it is being rebuilt, or it is another database
        raise ArchiveAway(f"Postgres has partition {partition} up to position {reached}, and {position} is needed")
    row = connection.execute(SQL["job"], key).fetchone()
    if row is not None:
        return job_of(row, connection.execute(SQL["deliveries"], key).fetchall())
    deleted = connection.execute(SQL["deleted"], key).fetchone()
    return deleted_job(deleted) if deleted is not None else None
