"""Brings the Postgres schema `config` up to date: `python -m api.config.migrate`."""

import os
from pathlib import Path

from services.runtime import migrations
from services.runtime.settings import settings_from
from services.runtime.shredding import migrate as shredding

MIGRATIONS = Path(__file__).parent / "migrations"


def migrate(dsn: str) -> None:
    """Apply the migrations that this database has not had."""
    shredding.migrate(dsn)  # who has erasure is looked up with every key
    migrations.apply(dsn, "config", MIGRATIONS)


if __name__ == "__main__":
    migrate(settings_from(os.environ).postgres)
