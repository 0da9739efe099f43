"""The versions of the read model in ClickHouse: databases, and where their bookkeeping in Postgres stands.

The version in use is the database that the settings name, with the bookkeeping `clickhouse_v1`. One being built is the
database `<name>_vN` with the bookkeeping `clickhouse_vN`. A database `<name>_vN` without bookkeeping holds the tables
that were replaced. `<name>_until` was built up to a position, to look at.
"""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
from clickhouse_connect.driver.client import Client
from psycopg import Connection, sql

from projections.clickhouse.migrate import TABLES
from services.runtime.clickhouse import connect, quoted
from services.runtime.migrations import CONNECT_SECONDS, read_migrations
from services.runtime.settings import Settings
from services.runtime.sql import blocks

SQL = blocks(Path(__file__).with_name("clickhouse.sql"))
BOOKS = blocks(Path(__file__).with_name("clickhouse_books.sql"))
UNTIL = "until"


class Houses:
    """The versions of a ClickHouse, through a session of Postgres and a client of the version in use."""

    def __init__(self, settings: Settings, session: Connection[Any], client: Client) -> None:
        self._settings, self._session, self._client = settings, session, client
        self.used = str(client.database)

    def database(self, version: str) -> str:
        """Return the database of a version: `v2`, or `until`."""
        return f"{self.used}_{version}"

    def settings(self, version: str) -> Settings:
        """Return the settings with which that version is the one to write."""
        parts = urlsplit(self._settings.clickhouse)
        return replace(self._settings, clickhouse=urlunsplit(parts._replace(path=f"/{self.database(version)}")))

    def positions(self) -> dict[int, int]:
        """Return how far the version in use has each partition."""
        return dict(self._session.execute(BOOKS["positions"]).fetchall())

    def half_built(self) -> str | None:
        """Return the version that a rebuild has left unfinished."""
        found = [row[0].removeprefix("clickhouse_") for row in self._session.execute(BOOKS["schemas"]).fetchall()]
        return max(found, key=_number, default=None)

    def replaced(self) -> list[str]:
        """Return the versions whose tables nobody reads any more."""
        half_built = self.half_built()
        return [each for each in self._versions() if each != half_built]

    def next(self) -> str:
        """Return a version behind all that there are."""
        known = [*self._versions(), self.half_built() or "v1"]
        return f"v{max(map(_number, known)) + 1}"

    def is_of_this_code(self, version: str) -> bool:
        """Whether exactly the migrations of this code were applied there: then building may go on."""
        if version not in self._versions():
            return False
        with self.client(version) as client:
            if not client.command("EXISTS TABLE migrations"):
                return False
            applied = {tuple(row) for row in client.query(SQL["migrations"]).result_rows}
        return applied == {(each.name, each.checksum) for each in read_migrations(TABLES)}

    def forget_books(self, version: str) -> None:
        """Drop the bookkeeping of a version, at once and for good: its tables are not continued."""
        with psycopg.connect(self._settings.postgres, autocommit=True, connect_timeout=CONNECT_SECONDS) as own:
            own.execute(sql.SQL(BOOKS["drop"]).format(schema=sql.Identifier(f"clickhouse_{version}")))

    def drop(self, version: str) -> None:
        """Drop a version: its bookkeeping first, so that nothing goes on with half of it."""
        self.forget_books(version)
        self._client.command(f"DROP DATABASE IF EXISTS {quoted(self.database(version))}")

    @contextmanager
    def client(self, version: str) -> Iterator[Client]:
        """Open a client of a version's database."""
        with closing(connect(self.settings(version).clickhouse)) as client:
            yield client

    def _versions(self) -> list[str]:
        pattern = {"pattern": f"^{self.used}_v[0-9]+$"}
        rows = self._client.query(SQL["databases"], parameters=pattern).result_rows
        return sorted(str(row[0]).removeprefix(f"{self.used}_") for row in rows)


def _number(version: str) -> int:
    return int(version.removeprefix("v"))
