"""A job whose results go to a customer's own database, through all processes: also while that is away, and deleted."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from psycopg.types.json import Jsonb

from schemas.values import Destination
from services.runtime.kept_secrets import Owner, sealed_for
from services.runtime.sealing import Sealer, new_key
from services.runtime.settings import Settings
from tests.conftest import Databases
from tests.integration.workers.plant import ORG, Plant, delivering

INTERNAL = Destination(destination_id="internal", kind="postgres")
OWN = Destination(destination_id="own", kind="customer_postgres")
ORG_ROW = "INSERT INTO config.orgs (org_id, name, partition, plan, max_in_flight) VALUES (%s, 'Acme', 0, 'bi', 5)"
OWN_ROW = """
INSERT INTO config.destinations (org_id, destination_id, kind, gating, on_exhausted, settings, sealed)
VALUES (%s, 'own', 'customer_postgres', true, 'hold', %s, %s)
"""


@pytest.fixture
async def plant(settings: Settings, tmp_path: Path) -> AsyncIterator[Plant]:
    """A plant with its decider, a worker, and the writers of the internal store and of customers' Postgres."""
    sealing = replace(settings, credentials_key=new_key())
    async with delivering(sealing, tmp_path, "postgres", "customer_postgres") as plant:
        yield plant


def configure(settings: Settings, customer: str) -> None:
    """Set the destination up as the API does."""
    given = conninfo_to_dict(customer)
    where: dict[str, Any] = {
        "host": given["host"],
        "port": int(str(given["port"])),
        "database": given["dbname"],
        "user": given["user"],
        "table": "items",
        "sslmode": "disable",
    }
    sealed, _ = sealed_for(
        Sealer(settings.credentials_key), Owner("warehouse", ORG, "own"), {"password": given["password"]}
    )
    with psycopg.connect(settings.postgres) as connection:
        connection.execute(ORG_ROW, (ORG,))
        connection.execute(OWN_ROW, (ORG, Jsonb(where), sealed))


def held(customer: str) -> list[str]:
    """Return the jobs that the customer has rows of."""
    with psycopg.connect(customer) as connection:
        return [job_id for (job_id,) in connection.execute("SELECT _job_id FROM items ORDER BY _job_id").fetchall()]


@pytest.mark.kafka
async def test_a_job_completes_with_its_rows_and_waits_while_their_database_is_away(
    plant: Plant, databases: Databases
) -> None:
    """The database is there, goes away, comes back; at last a job is deleted."""
    customer = databases.fresh()
    name = customer.rpartition("/")[2]
    configure(plant.settings, customer)
    first = await plant.submit("/p/1", INTERNAL, OWN)
    await plant.until("JobCompleted", first, 90)
    assert held(customer) == [first]

    _let(databases, name, "false")
    second = await plant.submit("/p/2", INTERNAL, OWN)
    await plant.until("DeliveryFailed", second, 90, destination_id="own")
    [failed] = plant.of("DeliveryFailed", second, destination_id="own")[:1]
    assert getattr(failed.event, "error_type", "") in ("destination_unavailable", "destination_refused")
    assert not plant.of("JobCompleted", second)
    assert plant.history(second).count("JobExtracted") == 1

    _let(databases, name, "true")
    await plant.until("JobCompleted", second, 90)
    assert held(customer) == sorted([first, second])

    await plant.delete(first)
    await plant.until("DeliveryAcked", first, 90, destination_id="erasure:own")
    assert held(customer) == [second]
    databases.drop(customer)


def _let(databases: Databases, name: str, allowed: str) -> None:
    """Let in, or throw out, whoever connects to a database."""
    with psycopg.connect(f"{databases.server}/postgres", autocommit=True) as connection:
        connection.execute(f'ALTER DATABASE "{name}" ALLOW_CONNECTIONS {allowed}'.encode())
        gone = b"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
        connection.execute(gone, (name,))
