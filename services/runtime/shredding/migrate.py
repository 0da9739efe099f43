"""Brings the Postgres schema `sealing` up to date: `python -m services.runtime.shredding.migrate`."""

import os
from pathlib import Path

from services.runtime import migrations
from services.runtime.settings import settings_from

SCHEMA = "sealing"
MIGRATIONS = Path(__file__).parent / "migrations"


def migrate(dsn: str) -> None:
    """Apply the migrations that this database has not had; safe to repeat and to run from several processes at once."""
    migrations.apply(dsn, SCHEMA, MIGRATIONS)


if __name__ == "__main__":
    migrate(settings_from(os.environ).postgres)
