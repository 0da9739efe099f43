"""One varied history for all tests of the views, projected once; no test changes a figure of it."""

from collections.abc import Iterator

import pytest
from clickhouse_connect.driver.client import Client

from services.localstack.stack import Stack
from services.runtime.settings import Settings
from tests.conftest import Databases, making_settings
from tests.event_streams import Stream
from tests.integration.clickhouse.conftest import database_of
from tests.integration.clickhouse.projecting import go_on
from tests.integration.clickhouse.views.history import Jobs, history, kept_jobs


@pytest.fixture(scope="package")
def shared(stack: Stack, databases: Databases) -> Iterator[Settings]:
    """Settings of all of them."""
    with making_settings(stack, databases) as make:
        yield make()


@pytest.fixture(scope="package")
def clickhouse(shared: Settings) -> Iterator[Client]:
    """A client of their database."""
    with database_of(shared) as client:
        yield client


@pytest.fixture(scope="package")
def streams(shared: Settings, clickhouse: Client) -> list[Stream]:
    """A varied history, projected."""
    streams = history(shared, 11)
    go_on(shared, streams)
    return streams


@pytest.fixture(scope="package")
def jobs(streams: list[Stream]) -> Jobs:
    """Return the events of each job that was not deleted."""
    return kept_jobs(streams)
