"""A store on a fresh database, and ways to project a stream into it."""

from collections.abc import Callable, Iterator
from contextlib import closing

import psycopg
import pytest

from projections.migrate import SCHEMA
from projections.postgres.batch import batch_of
from projections.postgres.store import Store
from services.runtime.ledger_log import Entry
from services.runtime.settings import Settings
from services.runtime.shredding.vault import Vault

Connection = psycopg.Connection[tuple[object, ...]]
Project = Callable[[list[Entry]], None]
BATCH = 50


@pytest.fixture
def store(settings: Settings) -> Iterator[Store]:
    """The only writer of a fresh read model."""
    with closing(Store(settings.postgres, SCHEMA, Vault(settings.credentials_key))) as store:
        assert store.lock()
        yield store


@pytest.fixture
def project(store: Store, settings: Settings) -> Project:
    """Write entries in batches, each offered twice, as after a crash whose outcome nobody knows."""

    def project(entries: list[Entry]) -> None:
        for at in range(0, len(entries), BATCH):
            for _ in range(2):
                checkpoints = store.checkpoints(range(settings.partitions))
                store.write(batch_of(checkpoints, entries[at : at + BATCH]))

    return project


@pytest.fixture
def database(settings: Settings) -> Iterator[Connection]:
    """A connection of a person who looks, or meddles, by hand."""
    with psycopg.connect(settings.postgres, autocommit=True) as connection:
        connection.execute(f"SET search_path TO {SCHEMA}")
        yield connection
