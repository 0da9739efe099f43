"""Sessions of a rebuild: one that has the claim, as only one has it at a time, and ones that see one instant."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import Connection, IsolationLevel

from projections.rebuild.faults import AnotherRebuild
from projections.rebuild.versions import SQL
from services.runtime.migrations import CONNECT_SECONDS


@contextmanager
def claimed(dsn: str, read_model: str) -> Iterator[Connection[Any]]:
    """Open a session that no other rebuild of this read model has, or raise AnotherRebuild."""
    with psycopg.connect(
        dsn, autocommit=True, connect_timeout=CONNECT_SECONDS, application_name=f"jobledger rebuild {read_model}"
    ) as session:
        session.execute("SET TimeZone TO 'UTC'")
        if session.execute(SQL["claim"], (read_model,)).fetchone() != (True,):
            raise AnotherRebuild(f"another rebuild of {read_model} is under way: wait for it, or stop it")
        yield session


@contextmanager
def snapshot(dsn: str) -> Iterator[Connection[Any]]:
    """Open a session that sees one instant, beginning with its first query."""
    with psycopg.connect(dsn, autocommit=True, connect_timeout=CONNECT_SECONDS) as connection:
        connection.execute("SET TimeZone TO 'UTC'")
        connection.isolation_level = IsolationLevel.REPEATABLE_READ
        connection.read_only = True
        with connection.transaction():
            yield connection
