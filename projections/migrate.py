"""Brings the read model's schema to what this version needs: `python -m projections.migrate`."""

import os
from pathlib import Path

import psycopg

from services.runtime.migrations import CONNECT_SECONDS, apply
from services.runtime.settings import settings_from
from services.runtime.shredding import migrate as shredding
from services.runtime.sql import blocks

SCHEMA = "ledger_v1"  # the first version of the read model; a rebuild makes the next
MIGRATIONS = Path(__file__).parent / "postgres" / "migrations"
SQL = blocks(Path(__file__).with_name("versions.sql"))


def migrate(dsn: str) -> str:
    """Apply what is missing to the version that readers follow, and return its schema.

    Safe to repeat and to run from several processes at once.
    """
    shredding.migrate(dsn)  # it reads and destroys the keys of jobs
    schema = _active(dsn)
    apply(dsn, schema, MIGRATIONS)
    return schema


def _active(dsn: str) -> str:
    with psycopg.connect(dsn, autocommit=True, connect_timeout=CONNECT_SECONDS) as connection:
        if connection.execute(SQL["has_active"]).fetchone() != (True,):
            return SCHEMA
        found = connection.execute(SQL["active_schema"]).fetchone()
    return str(found[0]) if found else SCHEMA


if __name__ == "__main__":
    migrate(settings_from(os.environ).postgres)
