"""What errors of Postgres and ClickHouse mean: what only the owner can mend is told, what passes is waited for."""

import psycopg
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from services.runtime.networks import LOCAL
from services.writers.warehouses.clickhouse_customer.settings import ClickHousePassword, ClickHouseSettings
from services.writers.warehouses.clickhouse_customer.warehouse import ClickHouseWarehouse
from services.writers.warehouses.customer_postgres.faults import connect_fault_of, fault_of
from services.writers.warehouses.piecewise import DataFault
from services.writers.warehouses.warehouse import Refusal
from services.writers.writer import DestinationDown

MARK = "marker-4c"


@pytest.mark.parametrize(
    ("state", "meaning", "words"),
    [
        ("22003", DataFault, "does not fit its column"),
        ("23514", DataFault, "constraint"),
        ("54000", DataFault, "does not fit its column"),
        ("P0001", DataFault, "trigger"),
        ("28P01", Refusal, "check user and password"),
        ("3D000", Refusal, "no such database"),
        ("3F000", Refusal, "no such schema"),
        ("42501", Refusal, "grant the user"),
        ("42P01", Refusal, "not as the writer knows it"),
        ("0A000", Refusal, "cannot be written to"),
        ("53100", DestinationDown, "DiskFull"),
        ("53300", DestinationDown, "TooManyConnections"),
        ("53400", DestinationDown, "ConfigurationLimitExceeded"),
        ("40P01", DestinationDown, "DeadlockDetected"),
        ("57P01", DestinationDown, "AdminShutdown"),
        ("25006", DestinationDown, "ReadOnlySqlTransaction"),
    ],
)
def test_an_error_of_postgres_is_told_by_class_and_state_and_not_quoted(
    state: str, meaning: type[Exception], words: str
) -> None:
    fault = fault_of(psycopg.errors.lookup(state)(f"Key ({MARK}) is odd"))
    assert type(fault) is meaning
    assert words in str(fault)
    assert state in str(fault)
    assert MARK not in str(fault)


@pytest.mark.parametrize(
    ("said", "meaning", "words"),
    [
        (f'FATAL:  password authentication failed for user "{MARK}"', Refusal, "check user and password"),
        (f'FATAL:  no pg_hba.conf entry for host "{MARK}"', Refusal, "lets this user in"),
        (f'FATAL:  role "{MARK}" does not exist', Refusal, "check user and password"),
        (f'FATAL:  database "{MARK}" does not exist', Refusal, "no such database"),
        (f"server at {MARK} does not support SSL, but SSL was required", Refusal, "offers no TLS"),
        (f"SSL error: certificate verify failed {MARK}", Refusal, "certificate"),
        (f'FATAL:  sorry, too many clients already for "{MARK}"', DestinationDown, "no connection"),
        (f"connection to {MARK} refused", DestinationDown, "no connection"),
    ],
)
def test_where_postgres_lets_nobody_in_it_is_told_why(said: str, meaning: type[Exception], words: str) -> None:
    fault = connect_fault_of(psycopg.OperationalError(f"connection failed: {said}"))
    assert type(fault) is meaning
    assert words in str(fault)
    assert MARK not in str(fault)


@pytest.mark.parametrize(
    ("code", "name"),
    [
        (201, "QUOTA_EXCEEDED"),
        (202, "TOO_MANY_SIMULTANEOUS_QUERIES"),
        (252, "TOO_MANY_PARTS"),
        (243, "NOT_ENOUGH_SPACE"),
    ],
)
async def test_a_quota_of_clickhouse_that_is_used_up_is_waited_for(code: int, name: str) -> None:
    async def answer(_: web.Request) -> web.Response:
        text = f"Code: {code}. DB::Exception: {MARK} ({name})"
        return web.Response(status=500, text=text, headers={"X-ClickHouse-Exception-Code": str(code)})

    app = web.Application()
    app.router.add_post("/", answer)
    async with TestServer(app) as server:
        place = ClickHouseSettings(url=f"http://127.0.0.1:{server.port}", database="jobs", table="items")
        warehouse = ClickHouseWarehouse(place, ClickHousePassword(), allowed=LOCAL)
        with pytest.raises(DestinationDown, match=f"code {code} {name}") as fault:
            await warehouse.columns()
        await warehouse.close()
    assert MARK not in str(fault.value)
