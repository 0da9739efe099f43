"""What every book of schedules does: the one in Postgres, by its clock, and its fake."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from psycopg_pool import AsyncConnectionPool

from api.config import orgs, schedules
from api.config.schedules import DueSchedule
from api.config.store import Pool
from services.runtime.networks import LOCAL
from services.runtime.settings import Settings
from services.runtime.shredding.store import JobKeys
from services.runtime.shredding.vault import Vault
from services.scheduler.book import Book, StoredBook
from tests.fakes.book import MemoryBook

MINUTE = timedelta(minutes=1)


@dataclass
class Case:
    """A book, and a way to set a schedule as people do."""

    book: Book
    put: Callable[[DueSchedule], Awaitable[None]]

    async def due(self, *busy: int) -> list[DueSchedule]:
        """Return what is due."""
        return list((await self.book.look(busy)).due)


def schedule(schedule_id: str, next_run_at: datetime | None, org: str = "org-0", partition: int = 0) -> DueSchedule:
    """Return an hourly schedule."""
    at = datetime(2026, 1, 1, tzinfo=UTC)
    work = {"url": "https://shop.example/1", "priority": 0}
    return DueSchedule(
        org_id=org,
        schedule_id=schedule_id,
        version=1,
        name="hourly",
        cron="0 * * * *",
        timezone="UTC",
        work=work,
        tags=["a"],
        missed="once",
        enabled=next_run_at is not None,
        next_run_at=next_run_at,
        created_at=at,
        updated_at=at,
        partition=partition,
    )


@pytest.fixture(params=["fake", "postgres"])
async def case(request: pytest.FixtureRequest) -> AsyncIterator[Case]:
    """One case per implementation; orgs 0 and 2 lie on partition 0, org 1 on partition 1."""
    if request.param == "fake":
        memory = MemoryBook(lambda: datetime.now(UTC))

        async def keep(made: DueSchedule) -> None:
            memory.put(made)

        yield Case(memory, keep)
        return
    settings: Settings = request.getfixturevalue("settings")
    pool: Pool = AsyncConnectionPool(settings.postgres, min_size=1, max_size=2, open=False)
    async with pool:
        for number, place in enumerate((0, 1, 0)):
            await orgs.save(pool, org_id=f"org-{number}", name="n", partition=place, plan="standard", max_in_flight=5)
            await orgs.confirm(pool, f"org-{number}")
        yield Case(StoredBook(pool, JobKeys(pool, Vault("")), allowed=LOCAL), lambda made: _insert(settings, made))


async def _insert(settings: Settings, made: DueSchedule) -> None:
    names = [name for name in schedules.Schedule.__dataclass_fields__ if name not in ("work", "number")]
    columns, places = ", ".join([*names, "work"]), ", ".join(["%s"] * (len(names) + 1))
    values = [getattr(made, name) for name in names]
    async with await psycopg.AsyncConnection.connect(settings.postgres) as connection:
        await connection.execute("DELETE FROM config.schedules WHERE schedule_id = %s", (made.schedule_id,))
        statement = f"INSERT INTO config.schedules ({columns}) VALUES ({places})"
        await connection.execute(statement.encode(), [*values, psycopg.types.json.Jsonb(made.work)])


async def test_what_is_due_is_found_the_longest_due_first_and_not_of_busy_partitions(case: Case) -> None:
    now = datetime.now(UTC)
    await case.put(schedule("sch-a", now - MINUTE))
    await case.put(schedule("sch-b", now - 2 * MINUTE))
    await case.put(schedule("sch-c", now + 60 * MINUTE))
    await case.put(schedule("sch-d", None))
    await case.put(schedule("sch-e", now - MINUTE, "org-1", 1))
    assert [(each.partition, each.schedule_id) for each in await case.due()] == [
        (0, "sch-b"),
        (0, "sch-a"),
        (1, "sch-e"),
    ]
    assert [each.schedule_id for each in await case.due(0)] == ["sch-e"]
    look = await case.book.look((0, 1))
    assert (list(look.due), look.overdue) == ([], 3)
    assert abs(look.now - now) < MINUTE


async def test_an_org_does_not_wait_behind_all_that_is_due_of_another_one(case: Case) -> None:
    now = datetime.now(UTC)
    for number in range(schedules.MOST_AT_ONCE):
        await case.put(schedule(f"sch-{number:02}", now - 2 * MINUTE))
    await case.put(schedule("sch-other", now - MINUTE, "org-2"))
    found = [each.schedule_id for each in await case.due()]
    assert found[:3] == ["sch-00", "sch-other", "sch-01"]
    assert len(found) == schedules.MOST_AT_ONCE


async def test_a_schedule_that_was_moved_on_is_due_no_more_and_only_once(case: Case) -> None:
    now = datetime.now(UTC)
    await case.put(schedule("sch-a", now - MINUTE))
    [found] = await case.due()
    await case.book.advance(found, now - MINUTE / 2)
    [again] = await case.due()
    assert again.next_run_at == now - MINUTE / 2
    assert (again.version, again.work, again.tags) == (found.version, found.work, found.tags)
    await case.book.advance(found, now + 60 * MINUTE)  # by another one, that had found it before
    assert [each.next_run_at for each in await case.due()] == [now - MINUTE / 2]
    await case.book.advance(again, now + 60 * MINUTE)
    assert await case.due() == []


async def test_who_found_a_schedule_before_it_was_set_anew_does_not_move_it_on(case: Case) -> None:
    now = datetime.now(UTC)
    await case.put(schedule("sch-a", now - MINUTE))
    [found] = await case.due()
    await case.put(replace(found, version=2, cron="30 * * * *"))
    await case.book.advance(found, now + 60 * MINUTE)
    assert [each.version for each in await case.due()] == [2]


async def test_a_schedule_that_comes_to_no_time_any_more_is_disabled(case: Case) -> None:
    await case.put(schedule("sch-a", datetime.now(UTC) - MINUTE))
    [found] = await case.due()
    await case.book.advance(found, None)
    assert await case.due() == []
