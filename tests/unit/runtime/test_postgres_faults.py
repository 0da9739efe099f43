"""No text of Postgres in a log or on a page: it may quote the connection string."""

import asyncio
import contextlib
import logging

import psycopg
import pytest
from psycopg import errors

from services.decider.archive import ArchiveAway
from services.decider.postgres_archive import PostgresArchive
from services.runtime.asking import keep_asking
from services.runtime.health import Progress
from services.runtime.postgres_faults import reason_of
from services.runtime.store_watch import watch_postgres
from tests.eventually import eventually

USER = "jobledger"
DSN = f"postgresql://{USER}:se/cret@127.0.0.1/ledger"  # read as a host and a port, for of a password / ends it


def test_class_and_sqlstate_are_told_and_the_text_is_not() -> None:
    with pytest.raises(psycopg.Error, match=USER) as caught:
        psycopg.connect(DSN)
    assert reason_of(caught.value) == type(caught.value).__name__
    assert reason_of(errors.UndefinedTable(f"no table {USER}")) == "UndefinedTable 42P01"
    assert reason_of(RuntimeError("a text of ours")) == "a text of ours"
    assert reason_of(TimeoutError()) == "TimeoutError"


async def test_the_archive_logs_and_answers_without_it(caplog: pytest.LogCaptureFixture) -> None:
    archive = PostgresArchive(DSN)
    with caplog.at_level(logging.WARNING, "services.decider.postgres_archive"):
        watching = asyncio.create_task(archive.watch())
        await eventually(lambda: bool(caplog.records))
        watching.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await watching
    assert vars(caplog.records[0])["reason"] == "OperationalError"
    with pytest.raises(ArchiveAway) as away:
        await asyncio.to_thread(archive.load, 0, "acme", "job", 1)
    assert str(away.value) == "Postgres: OperationalError"
    archive.close()


async def test_what_waits_for_postgres_says_so_without_it() -> None:
    progress = Progress("postgres")
    asking = asyncio.create_task(watch_postgres(DSN, progress))
    await eventually(lambda: progress.state().get("reason") == "Postgres: OperationalError")
    asking.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await asking


async def test_a_fault_that_is_ours_is_told_in_its_words() -> None:
    progress = Progress("store")

    async def ask() -> None:
        raise ValueError("nothing there")

    asking = asyncio.create_task(keep_asking(ask, progress, who="The store", faults=(ValueError,)))
    await eventually(lambda: progress.state().get("reason") == "The store: nothing there")
    asking.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await asking
