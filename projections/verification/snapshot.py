"""One instant of the read model, read row by row."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import psycopg
from psycopg import Connection, IsolationLevel, sql
from psycopg.rows import dict_row
from psycopg.types.json import set_json_loads

from projections.postgres.rows import Checkpoint, JobKey, micros
from projections.verification.expected import Columns, read_json
from services.runtime.shredding.rows import having_keys, keys_of
from services.runtime.shredding.vault import Vault
from services.runtime.sql import blocks

SQL = blocks(Path(__file__).with_name("verify.sql"))
READ_MODEL = blocks(Path(__file__).parent.parent / "postgres" / "read.sql")
ROWS_AT_ONCE = 500
CONNECT_SECONDS = 5  # a server that is frozen accepts, and says nothing


class Snapshot:
    """Reads as of the instant of its first query."""

    def __init__(self, connection: Connection[dict[str, Any]]) -> None:
        self._connection = connection
        set_json_loads(read_json, connection)

    def checkpoints(self) -> dict[int, Checkpoint]:
        """Return the checkpoints of all partitions."""
        return {row["partition"]: Checkpoint(**row) for row in self._connection.execute(SQL["checkpoints"])}

    def rows(self, table: str, partition: int) -> Iterator[Columns]:
        """Yield a partition's rows of a table, times as microseconds."""
        yield from self._stream(sql.SQL(SQL["of_partition"]).format(table=sql.Identifier(table)), (partition,))

    def strays(self, table: str, partitions: list[int]) -> Iterator[Columns]:
        """Yield the rows of a table that belong to none of these partitions."""
        yield from self._stream(sql.SQL(SQL["of_no_partition"]).format(table=sql.Identifier(table)), (partitions,))

    def gate_violations(self) -> list[Columns]:
        """Return what the view of gate violations shows."""
        return self._connection.execute(SQL["gate_violations"]).fetchall()

    def has_results(self) -> bool:
        """Whether there is a table of the internal destination."""
        there = self._connection.execute(SQL["has_results"]).fetchone()
        return bool(there and next(iter(there.values())))

    def results(self, jobs: Sequence[JobKey]) -> list[Columns]:
        """Return the rows of `extraction_results` of these jobs."""
        orgs, names = [org for org, _ in jobs], [job for _, job in jobs]
        return self._connection.execute(SQL["results"], (orgs, names)).fetchall()

    def result_keys(self) -> Iterator[tuple[str, str, str, int]]:
        """Yield org, job, destination and generation of each row of `extraction_results`."""
        for row in self._stream(sql.SQL(SQL["result_keys"]), ()):
            yield row["org_id"], row["job_id"], row["destination_id"], row["generation"]

    def keys(self, vault: Vault, jobs: Collection[JobKey]) -> dict[JobKey, bytes]:
        """Return the keys under which these jobs are sealed, of those that have one."""
        return keys_of(self._connection, vault, jobs)

    def having_keys(self, jobs: Collection[JobKey]) -> set[JobKey]:
        """Return those of these jobs that have a key, whether or not it can be opened."""
        return having_keys(self._connection, jobs)

    def _stream(self, query: sql.SQL | sql.Composed, arguments: tuple[Any, ...]) -> Iterator[Columns]:
        with self._connection.cursor("rows") as cursor:
            cursor.itersize = ROWS_AT_ONCE
            for row in cursor.execute(query, arguments):
                yield {name: micros(value) if isinstance(value, datetime) else value for name, value in row.items()}


@contextmanager
def snapshot_of(dsn: str) -> Iterator[Snapshot]:
    """Open a snapshot of the version that readers follow."""
    with psycopg.connect(dsn, autocommit=True, connect_timeout=CONNECT_SECONDS, row_factory=dict_row) as connection:
        connection.isolation_level = IsolationLevel.REPEATABLE_READ
        connection.read_only = True
        connection.execute("SET TimeZone TO 'UTC'")
        active = connection.execute(READ_MODEL["active_schema"]).fetchone()
        schema = active["schema_name"] if active else ""
        connection.execute(sql.SQL("SET search_path TO {}").format(sql.Identifier(schema)))
        with connection.transaction():
            yield Snapshot(connection)
