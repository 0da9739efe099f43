"""A customer's ClickHouse's own: tables, view, errors. What all warehouses do is in the conformance suite."""

import json
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from clickhouse_connect.driver.client import Client

from services.localstack.stack import Stack
from services.runtime.clickhouse import connect
from services.runtime.networks import LOCAL, Networks
from services.writers.warehouses.clickhouse_customer.settings import ClickHousePassword, ClickHouseSettings
from services.writers.warehouses.clickhouse_customer.warehouse import ClickHouseWarehouse
from services.writers.warehouses.warehouse import Column, ColumnType, Refusal
from services.writers.writer import DestinationDown
from tests.conformance.place import ADDED, SECRET, TAGS, Place, block, job, key
from tests.conformance.suite import WarehouseConformance
from tests.integration.warehouses.front import PASSWORD, Front, fronting

Rows = Callable[[str], list[tuple[object, ...]]]
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LAST_MICROSECOND = 10_413_791_999_999_999  # of DateTime64: the end of 2299
SHOWN = "SELECT _job_id, _generation, _item FROM items ORDER BY ALL"
HELD = "SELECT _job_id, _generation, _item FROM items__rows ORDER BY ALL"


@pytest.fixture
def database(stack: Stack) -> Iterator[Client]:
    """A fresh database; skips where there is no ClickHouse."""
    server = stack.environ["JOBLEDGER_CLICKHOUSE"].rpartition("/")[0]
    if not server:
        pytest.skip("no ClickHouse: chdb-core is not installed and JOBLEDGER_CLICKHOUSE is not set")
    client = connect(f"{server}/warehouse_{uuid.uuid4().hex}")
    yield client
    client.command(f"DROP DATABASE {client.database}")
    client.close()


@pytest.fixture
def rows(database: Client) -> Rows:
    """Return the rows of a query, as a person sees them."""
    return lambda query: [tuple(row) for row in database.query(query).result_rows]


def warehouse_at(url: str, database: str, *, allowed: Networks = LOCAL) -> ClickHouseWarehouse:
    """Return a warehouse as another process would have it."""
    settings = ClickHouseSettings(url, database, "items", "writer")
    return ClickHouseWarehouse(settings, ClickHousePassword("pass-77aa"), allowed=allowed)


class ClickHousePlace(Place):
    """A fresh database behind a front that asks for a password."""

    def __init__(self, front: Front, database: Client) -> None:
        self.front = front
        self.database = database

    def _at(self, url: str, password: str) -> ClickHouseWarehouse:
        settings = ClickHouseSettings(url, str(self.database.database), "items", "writer")
        return ClickHouseWarehouse(settings, ClickHousePassword(password), allowed=LOCAL)

    def open(self) -> ClickHouseWarehouse:
        return self._at(self.front.url, PASSWORD)

    def open_badly(self) -> ClickHouseWarehouse:
        return self._at(self.front.url, SECRET)

    def open_away(self) -> ClickHouseWarehouse:
        return self._at("http://127.0.0.1:9", SECRET)

    def lose_answer(self) -> None:
        self.front.loses_insert = True

    async def rows(self) -> list[dict[str, Any]]:
        found = self.database.query("SELECT * FROM items")
        return [
            {name: _read(name, value) for name, value in zip(found.column_names, row, strict=True)}
            for row in found.result_rows
        ]


def _read(name: str, value: Any) -> Any:
    if isinstance(value, datetime):
        return (value.replace(tzinfo=UTC) - EPOCH) // timedelta(microseconds=1)
    return json.loads(value) if name in ("_data", TAGS.name) and value is not None else value


@pytest.fixture
async def place(stack: Stack, database: Client) -> AsyncIterator[ClickHousePlace]:
    """A destination without a table."""
    async with fronting(stack.environ["JOBLEDGER_CLICKHOUSE"].rpartition("/")[0]) as front:
        yield ClickHousePlace(front, database)


@pytest.fixture
async def warehouse(place: ClickHousePlace) -> AsyncIterator[ClickHouseWarehouse]:
    warehouse = place.open()
    await warehouse.columns()
    await warehouse.add_columns(ADDED)
    yield warehouse
    await warehouse.close()


class TestConformance(WarehouseConformance):
    """What every warehouse does."""


async def test_values_at_the_edge_are_read_as_they_were_written(warehouse: ClickHouseWarehouse, rows: Rows) -> None:
    """Beside what the suite has: NUL, what no double is, the last microsecond, numbers in JSON that no double holds."""
    edge: dict[str, Any] = {"title": "\0", "price": float("-inf"), "seen_at": LAST_MICROSECOND, "tags": "1e400"}
    assert await warehouse.write(block(job("a", **edge))) == {}
    names = "title, price, toUnixTimestamp64Micro(seen_at), tags"
    assert rows(f"SELECT {names} FROM items") == [tuple(edge.values())]


async def test_the_newest_generation_is_shown_even_where_it_has_less_or_nothing(
    warehouse: ClickHouseWarehouse, rows: Rows
) -> None:
    await warehouse.write(block(job("a", items=3)))
    await warehouse.write(block(job("a", 2, items=1)))
    await warehouse.write(block(job("a", 1, items=3)))
    assert rows(SHOWN) == rows(HELD) == [("a", 2, 0)]
    await warehouse.write(block(job("a", 3, items=0)))
    await warehouse.write(block(job("a", 2, items=1), job("b")))
    assert rows(SHOWN) == rows(HELD) == [("b", 1, 0)]


async def test_rows_are_shown_only_once_their_generation_counts(
    warehouse: ClickHouseWarehouse, rows: Rows, database: Client
) -> None:
    """A process that ends between the two inserts leaves the older rows in sight, and all of them."""
    await warehouse.write(block(job("a", items=2)))
    database.command(
        "INSERT INTO items__rows (_org_id, _job_id, _item, _generation) VALUES ('acme', 'a', 0, 2), ('acme', 'a', 7, 2)"
    )
    assert rows(SHOWN) == [("a", 1, 0), ("a", 1, 1)]
    await warehouse.write(block(job("a", items=2)))  # must not take away what is about to count
    assert ("a", 2, 7) in rows(HELD)


async def test_only_the_job_whose_row_is_refused_is_missing_and_its_data_is_not_quoted(
    warehouse: ClickHouseWarehouse, rows: Rows
) -> None:
    jobs = [job(f"job-{number}") for number in range(8)]
    jobs[5] = job("job-5", price="a secret")
    refused = await warehouse.write(block(*jobs))
    assert list(refused) == [key("job-5")]
    assert "secret" not in refused[key("job-5")]
    assert [name for name, *_ in rows(SHOWN)] == [f"job-{number}" for number in range(8) if number != 5]


@pytest.mark.parametrize("values", [{"stock": 1 << 63}, {"seen_at": 1 << 62}, {"seen_at": -(10**16)}])
async def test_what_clickhouse_would_change_without_a_word_is_refused(
    warehouse: ClickHouseWarehouse, rows: Rows, values: dict[str, Any]
) -> None:
    assert list(await warehouse.write(block(job("a", **values), job("b")))) == [key("a")]
    assert rows(SHOWN) == [("b", 1, 0)]


async def test_an_erased_job_is_gone_and_does_not_come_back_late(warehouse: ClickHouseWarehouse, rows: Rows) -> None:
    odd = 'it\'s \\ "o\\tdd",\t\n\0 家'
    await warehouse.write(block(job("a"), job("b"), job("a", org_id="other"), job(odd)))
    await warehouse.erase([key("a"), key("never written"), key(odd)])
    await warehouse.write(block(job("a", 2), job("b", 2)))
    orgs = "SELECT _org_id, _job_id, _generation FROM {} ORDER BY ALL"
    assert rows(orgs.format("items")) == rows(orgs.format("items__rows")) == [("acme", "b", 2), ("other", "a", 1)]


async def test_columns_that_others_add_are_shown_and_stay(
    warehouse: ClickHouseWarehouse, rows: Rows, database: Client
) -> None:
    await warehouse.write(block(job("a")))
    database.command("ALTER TABLE items__rows ADD COLUMN colour String DEFAULT 'red', ADD COLUMN ip IPv4")
    found = await warehouse.columns()
    assert found["colour"] is ColumnType.TEXT
    assert found["_data"] is ColumnType.JSON
    assert "ip" not in found
    await warehouse.add_columns([Column("colour", ColumnType.NUMBER), Column("size", ColumnType.NUMBER)])
    assert rows("SELECT colour, size FROM items") == [("red", None)]
    assert (await warehouse.columns())["size"] is ColumnType.NUMBER


async def test_tables_that_their_owner_dropped_are_made_again(
    warehouse: ClickHouseWarehouse, rows: Rows, database: Client
) -> None:
    await warehouse.write(block(job("a")))
    for what in ("VIEW items", "TABLE items__rows SYNC", "TABLE items__generations SYNC"):
        database.command(f"DROP {what}")
    with pytest.raises(DestinationDown):
        await warehouse.write(block(job("a"), job("b", title="Lamp")))
    assert await warehouse.write(block(job("a"), job("b", title="Lamp"))) == {}
    assert rows("SELECT _job_id, title FROM items ORDER BY ALL") == [("a", None), ("b", "Lamp")]


async def test_a_table_of_the_customers_own_is_not_replaced_by_a_view(
    warehouse: ClickHouseWarehouse, rows: Rows, database: Client, stack: Stack
) -> None:
    database.command("DROP VIEW items")
    database.command("CREATE TABLE items (precious String) ENGINE = MergeTree ORDER BY precious")
    database.command("INSERT INTO items VALUES ('yes')")
    with pytest.raises(Refusal, match="choose another name"):
        await warehouse.columns()
    assert rows("SELECT precious FROM items") == [("yes",)]


async def test_a_database_that_is_not_there_is_told(stack: Stack, database: Client) -> None:
    nowhere = warehouse_at(stack.environ["JOBLEDGER_CLICKHOUSE"].rpartition("/")[0], "nowhere")
    with pytest.raises(Refusal, match="there is no such database"):
        await nowhere.columns()
    await nowhere.close()


@pytest.mark.parametrize(
    ("status", "code", "kind", "told"),
    [
        (403, 516, Refusal, "user or password is wrong"),
        (403, 497, Refusal, "grant the user"),
        (401, 0, Refusal, "lets nobody in"),
        (500, 241, DestinationDown, "code 241 SOME_NAME"),
        (503, 0, DestinationDown, "answered 503"),
    ],
)
async def test_errors_are_told_apart_by_their_codes_and_quote_no_password(
    status: int, code: int, kind: type[Exception], told: str
) -> None:
    asked: list[web.Request] = []

    async def answer(request: web.Request) -> web.Response:
        asked.append(request)
        headers = {"X-ClickHouse-Exception-Code": str(code)} if code else {}
        return web.Response(status=status, text=f"Code: {code}. DB::Exception: pass-77aa (SOME_NAME)", headers=headers)

    app = web.Application()
    app.router.add_post("/", answer)
    async with TestServer(app) as server:
        warehouse = warehouse_at(f"http://127.0.0.1:{server.port}", "jobs")
        with pytest.raises(kind, match=told) as error:
            await warehouse.columns()
        await warehouse.close()
    assert "pass-77aa" not in str(error.value)
    assert asked[0].headers["X-ClickHouse-Key"] == "pass-77aa"
    assert "pass-77aa" not in str(asked[0].url)


async def test_nobody_there_is_waited_for_and_private_addresses_are_not_reached() -> None:
    async with TestServer(web.Application()) as server:
        url = f"http://127.0.0.1:{server.port}"
    for allowed, kind in ((LOCAL, DestinationDown), ((), Refusal)):
        warehouse = warehouse_at(url, "jobs", allowed=allowed)
        with pytest.raises(kind):
            await warehouse.columns()
        await warehouse.close()
