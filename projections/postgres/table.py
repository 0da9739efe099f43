"""Rows into a table by COPY BINARY."""

from collections.abc import Sequence
from operator import itemgetter
from typing import Any

import msgspec
from msgspec import Struct
from psycopg import Connection, sql
from psycopg.rows import scalar_row

from schemas.storable import is_storable, storable_text

TEXT = 25  # the oid of Postgres' type text


class Table:
    """A table that takes rows of one struct; its columns are the struct's fields."""

    def __init__(self, connection: Connection[Any], name: str, row: type[Struct]) -> None:
        self._connection = connection
        columns = row.__struct_fields__
        self._copy = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT BINARY)").format(
            sql.Identifier(name), sql.SQL(", ").join(map(sql.Identifier, columns))
        )
        types = connection.cursor(row_factory=scalar_row).execute(
            "SELECT a.atttypid::integer FROM unnest(%s::text[]) WITH ORDINALITY AS c (name, n) "
            "JOIN pg_attribute AS a ON a.attname = c.name AND a.attrelid = %s::regclass ORDER BY c.n",
            (list(columns), name),
        )
        self._types = types.fetchall()
        self._texts = itemgetter(*(n for n, oid in enumerate(self._types) if oid == TEXT))

    def append(self, rows: Sequence[Struct]) -> None:
        """Write rows; nothing is sent for none."""
        if not rows:
            return
        with self._connection.cursor() as cursor, cursor.copy(self._copy) as copy:
            copy.set_types(self._types)
            for row in rows:
                values = msgspec.structs.astuple(row)
                if not is_storable("".join(filter(None, self._texts(values)))):
                    values = tuple(storable_text(value) if isinstance(value, str) else value for value in values)
                copy.write_row(values)
