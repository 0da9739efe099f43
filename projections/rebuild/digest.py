"""The digest of a version of the read model: of each table a sum of hashes by org and day, of all of it one hash.

Tables, keys and columns are those that Postgres knows, so that a new one is compared without a word here. What versions
may hold differently is left out: at which offset reading goes on, and when a migration was applied.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from msgspec import Struct
from psycopg import Connection, sql

from services.runtime.sql import blocks

SQL = blocks(Path(__file__).with_name("digest.sql"))
NOT_COMPARED = ("migrations", "checkpoints")
ORG = "org_id"
TIMES = ("submitted_at", "occurred_at", "requested_at", "deleted_at", "fired_at", "started_at", "ended_at")
NO_DAY = "-"  # of a table whose rows are of no time


class Bucket(Struct, frozen=True, order=True):
    """The rows of a table of one org and day (UTC)."""

    table: str
    org_id: str
    day: str

    def __str__(self) -> str:
        return f"{self.table} {self.org_id} {self.day}"


class Summed(Struct, frozen=True):
    """What is in a bucket: how many rows, and the sum of their hashes."""

    rows: int
    digest: str


@dataclass(frozen=True, slots=True)
class Shape:
    """What is compared of a table."""

    table: str
    key: tuple[str, ...]
    columns: tuple[str, ...]

    def statement(self, name: str, schema: str) -> sql.Composed:
        """Return a statement about this table of a version."""
        time = next((each for each in TIMES if each in self.columns), None)
        day = sql.SQL("coalesce({}::date::text, '-')").format(sql.Identifier(time)) if time else sql.Literal(NO_DAY)
        return sql.SQL(SQL[name]).format(
            schema=sql.Identifier(schema),
            table=sql.Identifier(self.table),
            columns=sql.SQL(", ").join(map(sql.Identifier, self.columns)),
            key=sql.SQL(", ").join(sql.SQL("{}::text").format(sql.Identifier(each)) for each in self.key),
            org=sql.Identifier(ORG) if ORG in self.columns else sql.Literal(""),
            day=day,
        )


Shapes = dict[str, Shape]
Digest = dict[Bucket, Summed]


def shapes_of(connection: Connection[Any], schema: str) -> Shapes:
    """Return the tables of a version."""
    columns: dict[str, list[str]] = {}
    keys: dict[str, list[str]] = {}
    for table, column, in_key in connection.execute(SQL["columns"], (schema, list(NOT_COMPARED))).fetchall():
        columns.setdefault(table, []).append(column)
        if in_key:
            keys.setdefault(table, []).append(column)
    return {table: Shape(table, tuple(keys[table]), tuple(names)) for table, names in columns.items()}


def in_both(one: Shapes, other: Shapes) -> Shapes:
    """Return what two versions have both: tables, and columns of these."""
    return {
        table: Shape(table, shape.key, tuple(name for name in shape.columns if name in other[table].columns))
        for table, shape in one.items()
        if table in other
    }


def digest_of(connection: Connection[Any], schema: str, shapes: Shapes) -> Digest:
    """Return the digest of a version, as of the session's snapshot."""
    return {
        Bucket(table, org_id, day): Summed(rows, digest)
        for table, shape in shapes.items()
        for org_id, day, rows, digest in connection.execute(shape.statement("buckets", schema)).fetchall()
    }


def whole(digest: Digest, positions: Iterable[tuple[int, int]]) -> str:
    """Return one hash of a digest and the positions it is of, in hex."""
    total = hashlib.blake2b(digest_size=16)
    for partition, position in sorted(positions):
        total.update(f"{partition}:{position}\n".encode())
    for bucket, summed in sorted(digest.items()):
        total.update(f"{bucket} {summed.rows} {summed.digest}\n".encode())
    return total.hexdigest()
