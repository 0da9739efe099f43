"""Applies a directory of SQL migrations to a Postgres schema, each once, in order, whole or not at all."""

import hashlib
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg.sql import SQL, Identifier

from services.runtime.errors import MigrationFault

NAME = re.compile(r"(\d{3})_(pre|post)_[a-z0-9_]+\.sql")
CONNECT_SECONDS = 10  # a server that is frozen accepts, and says nothing
LOCK_CLASS = 0x6A6C  # the first key of our advisory locks on migrations; the second is the schema's checksum


@dataclass(frozen=True, slots=True)
class Migration:
    """One file: NNN_pre_name.sql runs before the code that needs it, NNN_post_name.sql after the old code has left."""

    name: str
    text: str

    @property
    def checksum(self) -> str:
        """SHA-256 of the text, in hex."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def apply(dsn: str, schema: str, directory: Path) -> list[str]:
    """Create the schema if it is missing, apply what was not applied yet, and return those files' names.

    Processes that do so at once wait for each other. Names in the files resolve to the schema first. All new files
    are applied in one transaction: either all or none (hence no CREATE INDEX CONCURRENTLY).
    Raises MigrationFault naming the file that is misnamed, late in order, was edited since, or fails.
    """
    migrations = read_migrations(directory)
    with psycopg.connect(dsn, connect_timeout=CONNECT_SECONDS) as connection, connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s, %s)", (LOCK_CLASS, zlib.crc32(schema.encode()) >> 1))
        connection.execute(SQL("CREATE SCHEMA IF NOT EXISTS {}").format(Identifier(schema)))
        connection.execute(SQL("SET LOCAL search_path TO {}, public").format(Identifier(schema)))
        connection.execute(
            "CREATE TABLE IF NOT EXISTS migrations (name text PRIMARY KEY, checksum text NOT NULL, "
            "applied_at timestamptz NOT NULL DEFAULT now())"
        )
        applied: dict[str, str] = dict(connection.execute("SELECT name, checksum FROM migrations").fetchall())
        new = not_applied(migrations, applied)
        for migration in new:
            _run(connection, migration)
        return [migration.name for migration in new]


def read_migrations(directory: Path) -> list[Migration]:
    """Return the files of a directory in their order, or raise MigrationFault naming one that is misnamed."""
    migrations = [Migration(path.name, path.read_text("utf-8")) for path in sorted(directory.glob("*.sql"))]
    numbers: set[str] = set()
    for migration in migrations:
        match = NAME.fullmatch(migration.name)
        if not match:
            raise MigrationFault(f"{migration.name}: name it NNN_pre_name.sql or NNN_post_name.sql, in lower case")
        if match[1] in numbers:
            raise MigrationFault(f"{migration.name}: another file has the number {match[1]}; take the next free one")
        numbers.add(match[1])
    if not migrations:
        raise MigrationFault(f"no .sql files in {directory.name}: is the package installed with its data files?")
    return migrations


def not_applied(migrations: list[Migration], applied: Mapping[str, str]) -> list[Migration]:
    """Return what is to be applied. Applied files that are not here belong to a newer version and are left alone."""
    latest = max(applied, default="")
    new: list[Migration] = []
    for migration in migrations:
        if migration.name not in applied:
            if migration.name < latest:
                raise MigrationFault(f"{migration.name}: {latest} was applied before it; give it a higher number")
            new.append(migration)
        elif applied[migration.name] != migration.checksum:
            raise MigrationFault(
                f"{migration.name} was edited after it had been applied: put it back and write a new migration"
            )
    return new


def _run(connection: psycopg.Connection, migration: Migration) -> None:
    try:
        connection.execute(migration.text.encode())
    except psycopg.Error as error:
        raise MigrationFault(f"{migration.name} failed, nothing was applied: {error}") from error
    connection.execute("INSERT INTO migrations (name, checksum) VALUES (%s, %s)", (migration.name, migration.checksum))
