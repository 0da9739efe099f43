"""Seals credentials, secrets of whatever has some, and keys of orgs anew; then the former key can go.

`python -m api.config.reseal` does so.
"""

import os
import sys

import psycopg

from api.config.store import QUERIES
from api.config.webhooks import sealed_secret
from services.runtime.errors import SettingsError
from services.runtime.sealing import Sealer
from services.runtime.settings import settings_from
from services.runtime.shredding.rows import SQL as SHREDDING
from services.runtime.sql import blocks


def reseal(dsn: str, sealer: Sealer) -> int:
    """Seal all anew and return how many there were; what is replaced meanwhile has the newest key already."""
    queries = blocks(QUERIES)
    with psycopg.connect(dsn) as connection:
        rows = connection.execute(queries["sealed_credentials"]).fetchall()
        for org_id, provider, sealed in rows:
            name = {"org_id": org_id, "provider": provider}
            resealed = sealer.reseal(bytes(sealed))
            connection.execute(queries["reseal_credential"], {**name, "sealed": sealed, "resealed": resealed})
        places = connection.execute(queries["sealed_destinations"]).fetchall()
        for org_id, destination_id, sealed in places:
            values = {"org_id": org_id, "destination_id": destination_id, "sealed": sealed}
            resealed = sealer.reseal(bytes(sealed))
            connection.execute(queries["reseal_destination"], {**values, "resealed": resealed})
        projects = connection.execute(queries["sealed_projects"]).fetchall()
        for org_id, project, sealed in projects:
            values = {"org_id": org_id, "project": project, "sealed": sealed}
            connection.execute(queries["reseal_project"], {**values, "resealed": sealer.reseal(bytes(sealed))})
        planned = connection.execute(queries["sealed_schedules"]).fetchall()
        for org_id, schedule_id, sealed in planned:
            values = {"org_id": org_id, "schedule_id": schedule_id, "sealed": sealed}
            connection.execute(queries["reseal_schedule"], {**values, "resealed": sealer.reseal(bytes(sealed))})
        kept = connection.execute(SHREDDING["org_keys"]).fetchall()
        for org_id, key_id, sealed in kept:
            resealed = sealer.reseal(bytes(sealed))
            values = {"org_id": org_id, "key_id": key_id, "sealed": sealed, "resealed": resealed}
            connection.execute(SHREDDING["reseal_org_key"], values)
        secrets = _reseal_webhooks(connection, sealer, "webhook_secrets")
    return len(rows) + len(places) + len(projects) + len(planned) + len(kept) + secrets


def seal_webhooks(dsn: str, sealer: Sealer) -> int:
    """Seal the secrets of webhooks that were saved before they were sealed; return how many."""
    with psycopg.connect(dsn) as connection:
        return _reseal_webhooks(connection, sealer, "clear_webhook_secrets")


def _reseal_webhooks(connection: psycopg.Connection, sealer: Sealer, which: str) -> int:
    queries = blocks(QUERIES)
    rows = connection.execute(queries[which]).fetchall()
    for secret_id, org_id, webhook_id, secret, sealed in rows:
        fresh = sealed_secret(sealer, org_id, webhook_id, secret) if secret else sealer.reseal(bytes(sealed))
        connection.execute(queries["reseal_secret"], {"secret_id": secret_id, "resealed": fresh})
    return len(rows)


def main() -> None:
    """Do so for the configured store and keys."""
    settings = settings_from(os.environ)
    if not settings.credentials_key:
        raise SettingsError("JOBLEDGER_CREDENTIALS_KEY not set: give the new key and the former one, comma-separated")
    number = reseal(settings.postgres, Sealer(settings.credentials_key))
    sys.stdout.write(f"{number} credentials, secrets and keys of orgs sealed with the first key\n")


if __name__ == "__main__":
    main()
