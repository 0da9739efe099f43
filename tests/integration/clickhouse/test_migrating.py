"""A migration may take far longer than an ordinary statement: it fills a new table from all that there is."""

import asyncio
from contextlib import closing
from dataclasses import replace
from functools import partial

import pytest
from clickhouse_connect.driver.exceptions import ClickHouseError

from projections.clickhouse import sink
from services.runtime.clickhouse import connect
from services.runtime.settings import Settings
from tests.integration.clickhouse.conftest import Rows
from tests.integration.clickhouse.conftest import clickhouse as clickhouse
from tests.integration.clickhouse.conftest import rows as rows
from tests.proxy import Passing, proxying, server_of, through

ORDINARY_SECONDS = 1  # that a statement may take in this test
SLOW = b"stage_positions"  # of the statements that take longer: its migration fills it from job_events


async def test_a_statement_of_a_migration_that_takes_longer_than_others_may_is_waited_for(
    settings: Settings, rows: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sink, "connect", partial(connect, answer_seconds=ORDINARY_SECONDS))
    begun, too_long = asyncio.Event(), asyncio.Event()

    async def hold(passing: Passing) -> None:
        if SLOW in passing.body:
            begun.set()
            await too_long.wait()

    async with proxying(server_of(settings.clickhouse)) as proxy:
        slow = replace(settings, clickhouse=through(proxy, settings.clickhouse))
        proxy.before = hold
        opening = asyncio.create_task(asyncio.to_thread(sink.ClickHouseSink, slow))
        await begun.wait()
        with pytest.raises(ClickHouseError):  # as long as one takes that may not wait, and has begun later
            await asyncio.to_thread(_ask, slow.clickhouse)
        too_long.set()
        (await opening).close()
    assert rows("SELECT count() FROM stage_positions") == [(0,)]


def _ask(url: str) -> None:
    with closing(connect(url, ORDINARY_SECONDS)) as client:
        client.command("SELECT 'stage_positions'")
