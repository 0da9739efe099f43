"""Brings the tables of the bulk-writers to what this version needs: `python -m services.writers.migrate`."""

import os
from pathlib import Path

from services.runtime.migrations import apply
from services.runtime.settings import settings_from

SCHEMA = "extraction"
MIGRATIONS = Path(__file__).parent / "postgres" / "migrations"


def migrate(dsn: str) -> None:
    """Apply what is missing; safe to repeat and to run from several processes at once."""
    apply(dsn, SCHEMA, MIGRATIONS)


if __name__ == "__main__":
    migrate(settings_from(os.environ).postgres)
