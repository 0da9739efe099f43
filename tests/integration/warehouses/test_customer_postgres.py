"""The writer of a customer's Postgres against a real one."""

from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from typing import Any

import psycopg
import pytest
from msgspec.structs import replace
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import dict_row

from services.runtime.networks import LOCAL
from services.writers.warehouses.converting import EPOCH
from services.writers.warehouses.customer_postgres.settings import PostgresSecrets, PostgresSettings
from services.writers.warehouses.customer_postgres.warehouse import PostgresWarehouse
from services.writers.warehouses.warehouse import Warehouse
from tests.conformance.place import SECRET, Place
from tests.conformance.suite import WarehouseConformance
from tests.conftest import Databases
from tests.integration.warehouses.losing import Losing, losing


class PostgresPlace(Place):
    """A database of the shared server, which takes no password from this machine."""

    def __init__(self, dsn: str, proxy: Losing) -> None:
        self.dsn = dsn
        self.proxy = proxy
        given = conninfo_to_dict(dsn)
        self.settings = PostgresSettings(
            host="127.0.0.1",
            port=proxy.port,
            database=str(given["dbname"]),
            user=str(given["user"]),
            table="items",
            sslmode="disable",
        )
        self.secrets = PostgresSecrets(str(given["password"]))

    def open(self) -> Warehouse:
        return PostgresWarehouse(self.settings, self.secrets, allowed=LOCAL)

    def open_badly(self) -> Warehouse:
        return PostgresWarehouse(self.settings, PostgresSecrets(SECRET), allowed=LOCAL)

    def open_away(self) -> Warehouse:
        return PostgresWarehouse(replace(self.settings, port=9), PostgresSecrets(SECRET), allowed=LOCAL)

    def lose_answer(self) -> None:
        self.proxy.armed = True

    async def rows(self) -> list[dict[str, Any]]:
        with psycopg.connect(self.dsn, row_factory=dict_row) as connection:
            rows = connection.execute("SELECT * FROM items").fetchall()
        return [{name: _read(value) for name, value in row.items()} for row in rows]


def _read(value: Any) -> Any:
    return (value - EPOCH) // timedelta(microseconds=1) if isinstance(value, datetime) else value


@pytest.fixture
async def place(databases: Databases) -> AsyncIterator[Place]:
    """A fresh database."""
    url = databases.fresh()
    given = conninfo_to_dict(url)
    async with losing(str(given["host"]), int(str(given["port"]))) as proxy:
        yield PostgresPlace(url, proxy)
    databases.drop(url)


class TestConformance(WarehouseConformance):
    """What every warehouse does."""
