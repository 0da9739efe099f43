"""The log of attempts in Postgres: written beside the deliveries, bounded, and emptied of erased jobs."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from aiohttp import web
from msgspec.structs import replace as but
from psycopg_pool import AsyncConnectionPool

from services.runtime.settings import Settings
from services.writers.postgres.writer import PostgresWriter
from services.writers.webhook import attempts as module
from services.writers.webhook.attempts import SQL, Attempt, AttemptLog, storable
from services.writers.webhook.endpoints import Pool
from services.writers.webhook.signing import PREFIX
from tests.eventually import eventually
from tests.receiver import Got, receiving
from tests.unit.webhook.fakes import SETTINGS, desk, hook
from tests.unit.workers.fakes import MemoryBlobs
from tests.unit.writers.fakes import delivery

NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)


def attempt(number: int = 1, **values: object) -> Attempt:
    plain = Attempt(
        org_id="org-1",
        webhook_id="wh-1",
        job_id=f"job-{number}",
        destination_id="wh-1",
        message_id=f"msg_{number}",
        generation=1,
        try_number=1,
        attempted_at=datetime.now(UTC),
        latency_ms=3,
        status=500,
        error_type="http_500",
        answer="no",
    )
    return but(plain, **values)


@pytest.fixture
async def pool(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Pool]:
    monkeypatch.setattr(module, "GATHER_SECONDS", 0.01)
    monkeypatch.setattr(module, "PAUSE_SECONDS", 0.01)
    pool: Pool = AsyncConnectionPool(settings.postgres, min_size=1, max_size=4, open=False, timeout=1)
    async with pool:
        yield pool


def rows(settings: Settings, columns: str = "job_id") -> list[Any]:
    with psycopg.connect(settings.postgres) as connection:
        found = connection.execute(f"SELECT {columns} FROM webhooks.attempts ORDER BY attempt_id".encode()).fetchall()
    return [row[0] if len(row) == 1 else row for row in found]


async def logged(pool: Pool, attempts: Sequence[Attempt], *, days: float = 30.0, kept: int = 1000) -> None:
    async with AttemptLog(pool, days=days, kept=kept) as log:
        for each in attempts:
            log.note(each)


async def test_every_try_is_kept_with_what_came_of_it_and_without_what_signs(pool: Pool, settings: Settings) -> None:
    async def echo(got: Got) -> web.Response:
        body = b"\0\xff" + got.headers["webhook-signature"].encode() + b" " + b"x" * 2000
        return web.Response(status=500, body=body)

    async with (
        receiving() as receiver,
        AttemptLog(pool, days=30, kept=1000) as log,
        desk(replace(SETTINGS), attempts=log) as at,
    ):
        at.endpoints.add("wh-1", f"{receiver.url}/")
        receiver.answers["/"] = echo
        await at.take(hook(1))
        await at.take(hook(1, try_number=2, generation=2))
        await eventually(lambda: len(rows(settings)) == 2)
        [first, second] = rows(settings, "message_id, generation, try_number, status, error_type, answer")
        assert first[0] == second[0] == receiver.got["/"][0].message_id
        assert sorted(each[1:3] for each in (first, second)) == [(1, 1), (2, 2)]
        assert first[3:5] == (500, "http_500")
        assert first[5].startswith("\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}[removed] xxx")
        signatures = [part for got in receiver.got["/"] for part in got.headers["webhook-signature"].split(" ")]
        assert not any(signature in each[5] for signature in signatures for each in (first, second))
        assert len(first[5]) <= 1024


def test_an_answer_that_repeats_a_secret_is_kept_without_it() -> None:
    secret = PREFIX + "c2VjcmV0"
    assert storable(f"key={secret} raw=c2VjcmV0".encode(), [secret, "c2VjcmV0"]) == "key=[removed] raw=[removed]"


async def test_what_an_erased_job_was_answered_goes_and_does_not_come_back(pool: Pool, settings: Settings) -> None:
    await logged(pool, [attempt(1), attempt(2)])
    writer = PostgresWriter(settings.postgres, MemoryBlobs())
    try:
        gone = replace_erase(1)
        await writer.write([gone])
    finally:
        await writer.close()
    assert rows(settings) == ["job-2"]
    await logged(pool, [attempt(1), attempt(3)])  # a call that was under way while the job was deleted
    assert rows(settings) == ["job-2", "job-3"]


def replace_erase(number: int) -> Any:
    return but(delivery(number), destination_id="erasure", erase=True)


async def test_an_erasure_waits_for_a_batch_that_is_being_written(pool: Pool, settings: Settings) -> None:
    writer = PostgresWriter(settings.postgres, MemoryBlobs())
    columns = {name: [getattr(attempt(1), name)] for name in Attempt.__struct_fields__}
    with psycopg.connect(settings.postgres) as slow:
        slow.execute(SQL["share"])
        slow.execute(SQL["save"], columns)
        erasure = asyncio.create_task(writer.write([replace_erase(1)]))
        with psycopg.connect(settings.postgres, autocommit=True) as other:
            waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
            await eventually(lambda: other.execute(waiting).fetchall() == [(1,)])
        slow.commit()
    await erasure
    await writer.close()
    assert rows(settings) == []


async def test_the_log_keeps_the_newest_of_each_endpoint_and_nothing_that_is_too_old(
    pool: Pool, settings: Settings
) -> None:
    old = datetime.now(UTC) - timedelta(days=31)
    many = [attempt(number) for number in range(2, 7)]
    await logged(pool, [attempt(1, attempted_at=old), *many, attempt(9, webhook_id="wh-2")])
    async with AttemptLog(pool, days=30, kept=3):
        await eventually(lambda: len(rows(settings)) == 4)
    assert rows(settings) == ["job-4", "job-5", "job-6", "job-9"]


async def test_attempts_wait_for_postgres_and_the_oldest_give_way(
    pool: Pool, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "HELD", 3)
    with psycopg.connect(settings.postgres, autocommit=True) as connection:
        connection.execute("ALTER TABLE webhooks.attempts RENAME TO away")
        async with AttemptLog(pool, days=30, kept=1000) as log:
            for number in range(1, 6):
                log.note(attempt(number))
            connection.execute("ALTER TABLE webhooks.away RENAME TO attempts")
            await eventually(lambda: rows(settings) == ["job-3", "job-4", "job-5"])


async def test_a_pause_is_there_for_the_api_to_show(pool: Pool, settings: Settings) -> None:
    until = datetime.now(UTC) + timedelta(minutes=5)
    async with AttemptLog(pool, days=30, kept=1000) as log:
        log.throttled(("org-1", "wh-1"), until)
    with psycopg.connect(settings.postgres) as connection:
        assert connection.execute("SELECT webhook_id, until FROM webhooks.throttles").fetchall() == [("wh-1", until)]
