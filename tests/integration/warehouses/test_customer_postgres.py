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
from services.writers.rows import row_of
from services.writers.warehouses.converting import EPOCH
from services.writers.warehouses.customer_postgres.settings import PostgresSecrets, PostgresSettings
from services.writers.warehouses.customer_postgres.warehouse import PostgresWarehouse
from services.writers.warehouses.kinds import KINDS
from services.writers.warehouses.table import Table
from services.writers.warehouses.warehouse import JOB_COLUMNS, Column, ColumnType, Warehouse
from tests.conformance.place import SECRET, Place, block, job, key, odd_delivery, told_by
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
async def place(databases: Databases) -> AsyncIterator[PostgresPlace]:
    """A fresh database."""
    url = databases.fresh()
    given = conninfo_to_dict(url)
    async with losing(str(given["host"]), int(str(given["port"]))) as proxy:
        yield PostgresPlace(url, proxy)
    databases.drop(url)


class TestConformance(WarehouseConformance):
    """What every warehouse does."""


async def test_a_field_with_the_name_of_a_system_column_has_none_and_blocks_nobody(place: Place) -> None:
    """Postgres refuses to add it, which once kept the destination from all jobs."""
    table = place.open()
    await table.columns()
    system = [Column(name, ColumnType.TEXT) for name in ("cmax", "cmin", "ctid", "tableoid", "xmax", "xmin")]
    await table.add_columns(system)
    await table.add_columns([*system, Column("oid", ColumnType.TEXT)])
    assert list(await table.columns())[len(JOB_COLUMNS) :] == ["oid"]
    await table.close()


async def test_a_column_that_computes_itself_is_left_alone(place: PostgresPlace) -> None:
    """The owner has added one with the name of a field."""
    table = place.open()
    await table.columns()
    with psycopg.connect(place.dsn) as connection:
        connection.execute("ALTER TABLE items ADD title text GENERATED ALWAYS AS (_job_id || '!') STORED")
        connection.execute("ALTER TABLE items ADD number bigint GENERATED ALWAYS AS IDENTITY")
    written = Table(KINDS["customer_postgres"], place.open())
    row = row_of(odd_delivery("a"), b'{"normalized": {"title": "x", "number": 7, "brand": "b"}}')
    assert [each.error_type for each in await told_by(written, [row])] == [""]
    [found] = await place.rows()
    assert (found["title"], found["number"], found["brand"]) == ("a!", 1, "b")
    await written.close()
    await table.close()


async def test_a_row_that_a_trigger_of_the_owner_refuses_is_refused_alone_and_not_quoted(place: PostgresPlace) -> None:
    table = place.open()
    await table.columns()
    with psycopg.connect(place.dsn) as connection:
        connection.execute(
            "CREATE FUNCTION judge() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
            " IF NEW._job_id = 'b' THEN RAISE 'no secret %', NEW._data; END IF; RETURN NEW; END $$;"
            " CREATE TRIGGER judging BEFORE INSERT ON items FOR EACH ROW EXECUTE FUNCTION judge()"
        )
    refused = await table.write(block(job("a"), job("b"), job("c"), columns=()))
    assert list(refused) == [key("b")]
    assert "P0001" in refused[key("b")]
    assert "secret" not in refused[key("b")]
    assert await place.held() == [("a", 0, 1), ("c", 0, 1)]
    await table.close()
