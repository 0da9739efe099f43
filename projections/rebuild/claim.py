"""One rebuild of a read model at a time: whoever has the session has the claim, and its end gives it back."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import Connection

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
