"""A Postgres that accepts and then says nothing, as a frozen one does: nobody waits for it for ever."""

import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from projections import checkpoints
from projections.verification import snapshot
from services.runtime import migrations

LEAST_SECONDS = 2  # that psycopg waits


@pytest.fixture
def frozen(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The connection string of a server that never answers."""
    for module in (snapshot, migrations, checkpoints):
        monkeypatch.setattr(module, "CONNECT_SECONDS", LEAST_SECONDS)
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"postgresql://somebody@127.0.0.1:{server.getsockname()[1]}/ledger"


def verified(dsn: str) -> None:
    """Open what `jobledger verify` compares with the log."""
    with snapshot.snapshot_of(dsn):
        pass


def migrated(dsn: str) -> None:
    """Apply no migrations."""
    migrations.apply(dsn, "empty", Path(snapshot.__file__).parent.parent / "postgres" / "migrations")


@pytest.mark.parametrize("ask", [verified, migrated, checkpoints.postgres_checkpoints])
def test_it_is_given_up_in_time(frozen: str, ask: Callable[[str], object]) -> None:
    with pytest.raises(psycopg.errors.ConnectionTimeout):
        ask(frozen)
