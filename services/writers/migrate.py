"""Brings the tables of the bulk-writers to what this version needs: `python -m services.writers.migrate`."""

import os
from pathlib import Path

from services.runtime.migrations import apply
from services.runtime.settings import settings_from

MIGRATIONS = {"extraction": "postgres", "webhooks": "webhook"}  # schema -> package


def migrate(dsn: str) -> None:
    """Apply what is missing; safe to repeat and to run from several processes at once."""
    for schema, package in MIGRATIONS.items():
        apply(dsn, schema, Path(__file__).parent / package / "migrations")


if __name__ == "__main__":
    migrate(settings_from(os.environ).postgres)
