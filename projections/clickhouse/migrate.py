"""Brings the bookkeeping of the ClickHouse projection to what this version needs, and the tables in ClickHouse."""

import os
from pathlib import Path

from services.runtime import clickhouse
from services.runtime.migrations import apply
from services.runtime.settings import Settings, settings_from

SCHEMA = "clickhouse_v1"  # of the bookkeeping in Postgres; that of a version being built has a higher number
BOOKKEEPING = Path(__file__).parent / "bookkeeping"
TABLES = Path(__file__).parent / "migrations"
WITHOUT_COLUMN = frozenset({"destinations", "adopts"})  # fields of events that job_events leaves out: lists of records
APPLIED = "migrations"  # the table in ClickHouse that says which of them were applied


def migrate(dsn: str, schema: str = SCHEMA) -> None:
    """Apply what is missing in Postgres; safe to repeat and to run from several processes at once."""
    apply(dsn, schema, BOOKKEEPING)


def migrate_tables(settings: Settings) -> None:
    """Apply what is missing in ClickHouse; done by whoever writes there, at its start."""
    clickhouse.migrate(settings.clickhouse, TABLES, APPLIED, settings.clickhouse_migration_seconds)


if __name__ == "__main__":
    migrate(settings_from(os.environ).postgres)
