"""A database in ClickHouse of a test's own, and ways to project a stream into it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from clickhouse_connect.driver.client import Client

from services.runtime.clickhouse import connect, quoted
from services.runtime.settings import Settings

Rows = Callable[[str], list[tuple[object, ...]]]


@contextmanager
def database_of(settings: Settings) -> Iterator[Client]:
    """Lend a client of the fresh database of these settings; skip where there is no ClickHouse."""
    if not settings.clickhouse:
        pytest.skip("no ClickHouse: chdb-core is not installed and JOBLEDGER_CLICKHOUSE is not set")
    client = connect(settings.clickhouse)
    yield client
    client.command(f"DROP DATABASE {quoted(str(client.database))}")
    client.close()


@pytest.fixture
def clickhouse(settings: Settings) -> Iterator[Client]:
    """A client of a fresh database; skips where there is no ClickHouse."""
    with database_of(settings) as client:
        yield client


@pytest.fixture
def rows(clickhouse: Client) -> Rows:
    """Return the rows of a query, as a person sees them."""
    return lambda query: [tuple(row) for row in clickhouse.query(query).result_rows]
