"""The versions of the read model in Postgres: which is in use, which is being built, which were replaced.

A version is a schema `ledger_vN`. The one that was replaced is called `ledger_vN_retired` from the switch on, so that
nobody reads or writes it by mistake. `ledger_until` is one that was built up to a position, to look at.
"""

import re
from pathlib import Path
from typing import Any

from psycopg import Connection, sql

from projections.migrate import MIGRATIONS
from services.runtime.migrations import read_migrations
from services.runtime.sql import blocks

SQL = blocks(Path(__file__).with_name("rebuild.sql"))
NAME = re.compile(r"ledger_v(\d+)(_retired)?")
UNTIL = "ledger_until"
RETIRED = "_retired"


class Versions:
    """The versions that a Postgres has, through one session."""

    def __init__(self, connection: Connection[Any]) -> None:
        self._connection = connection

    def active(self) -> str:
        """Return the schema that readers follow."""
        row = self._connection.execute(SQL["active_schema"]).fetchone()
        assert row is not None, "migrations name an active version"
        return str(row[0])

    def replaced(self) -> list[str]:
        """Return the schemas that nobody reads: those that were replaced, and leftovers of lower numbers."""
        active, number = self.active(), _number(self.active())
        return [name for name in self._all() if name != active and (name.endswith(RETIRED) or _number(name) < number)]

    def half_built(self) -> str | None:
        """Return the schema that a rebuild has left unfinished, if it was begun by a version of this shape."""
        number = _number(self.active())
        newest = [name for name in self._all() if not name.endswith(RETIRED) and _number(name) > number]
        return max(newest, key=_number, default=None)

    def next(self) -> str:
        """Return a schema's name behind all that there are, and so one that no reader has followed."""
        return f"ledger_v{max(map(_number, [*self._all(), self.active()])) + 1}"

    def is_of_this_code(self, schema: str) -> bool:
        """Whether exactly the migrations of this code were applied there: then building may go on."""
        there = self._connection.execute(SQL["has_migrations"], (f"{schema}.migrations",)).fetchone()
        if there != (True,):
            return False
        rows = self._connection.execute(of_schema("migrations", schema)).fetchall()
        return {(each.name, each.checksum) for each in read_migrations(MIGRATIONS)} == set(rows)

    def give_rights(self, of: str, to: str) -> None:
        """Let the roles that have rights on a version have the same on another: after a switch they follow it."""
        for (statement,) in self._connection.execute(SQL["rights"], {"of": of, "to": to}).fetchall():
            self._connection.execute(statement)

    def drop(self, schema: str) -> None:
        """Drop a version."""
        self._connection.execute(of_schema("drop", schema))

    def positions(self, schema: str) -> dict[int, int]:
        """Return how far a version has each partition."""
        return dict(self._connection.execute(of_schema("positions", schema)).fetchall())

    def _all(self) -> list[str]:
        rows = self._connection.execute(SQL["schemas"], (f"^{NAME.pattern}$",)).fetchall()
        return sorted(row[0] for row in rows)


def of_schema(name: str, schema: str, **others: str) -> sql.Composed:
    """Return a statement about the tables of a schema."""
    names = {"schema": schema} | others
    return sql.SQL(SQL[name]).format(**{key: sql.Identifier(value) for key, value in names.items()})


def _number(schema: str) -> int:
    match = NAME.fullmatch(schema)
    return int(match[1]) if match else 0
