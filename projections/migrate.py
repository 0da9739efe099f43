"""Brings the read model's schema to what this version needs: `python -m projections.migrate`."""

import os
from pathlib import Path

from services.runtime.migrations import apply
from services.runtime.settings import settings_from
from services.runtime.shredding import migrate as shredding

SCHEMA = "ledger_v1"  # the version of the read model that this code writes
MIGRATIONS = Path(__file__).parent / "postgres" / "migrations"


def migrate(dsn: str) -> None:
    """Apply what is missing; safe to repeat and to run from several processes at once."""
    shredding.migrate(dsn)  # it reads and destroys the keys of jobs
    apply(dsn, SCHEMA, MIGRATIONS)


if __name__ == "__main__":
    migrate(settings_from(os.environ).postgres)
