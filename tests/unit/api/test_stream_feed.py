"""The feed of a job: whatever Postgres has and the tail has read when it begins, what it tells is the log, once."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import psycopg
import pytest
from msgspec.structs import replace

from api import stream_feed
from api.auth import Caller
from api.stream_feed import JobFeed
from api.stream_frames import Unknown
from projections.postgres.fold import Current, fold
from projections.postgres.rows import Job
from projections.postgres.views import Progress
from schemas.recorded import Recorded
from services.runtime.shredding.codec import sealed
from tests.scenarios.one_job import running
from tests.unit.ledger.world import EXTRACTED, ack, node

CALLER = Caller(org_id="acme")
KEY = ("acme", "j1")
PLENTY = 1000


class Postgres:
    """A read model that has folded the history up to a position, and the tail's memory of jobs that it lacks."""

    def __init__(self, history: Sequence[Recorded], folded: int = 0) -> None:
        self._history = history
        self.folded = folded
        self.read = 0  # how far the tail has read when it is asked what it holds
        self.deleted = False
        self.faults = 0

    async def progress(self, caller: Caller, job_id: str, after: int) -> Progress:
        """Return what was folded behind an ordinal."""
        if self.faults:
            self.faults -= 1
            raise psycopg.OperationalError("away")
        changes = fold(Current(), [each for each in self._history if each.header.position <= self.folded])
        job = changes.jobs.get((caller.org_id, job_id))
        if self.deleted or not isinstance(job, Job):
            return Progress(self.folded, None, [], [])
        transitions = [row for row in changes.transitions if row.seq > after]
        return Progress(self.folded, job, transitions, [row for row in changes.visits if row.seq > after])

    async def held(self, _caller: Caller, _job_id: str) -> Sequence[Recorded]:
        """Return what the tail has read of the job."""
        return [each for each in self._history if each.header.position <= self.read]

    async def reached(self, _partition: int, position: int, timeout_seconds: float) -> bool:
        """Wait until so much is folded."""
        await soon(lambda: self.folded >= position)
        return timeout_seconds > 0


async def soon(condition: Callable[[], bool]) -> None:
    """Give everything else its turns until the condition holds."""
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110  # nothing tells; everything else needs its turns
            await asyncio.sleep(0)


def history() -> list[Recorded]:
    """The events of a job that was completed, and one that came after its end."""
    world = running()
    world.report(None, node(0), node(1))
    world.report(EXTRACTED, node(2))
    world.settle(ack())
    world.report(EXTRACTED, node(3), boot="another")  # refused, and recorded
    return [each for each in world.seen if each.event.job_id == "j1"]


@asynccontextmanager
async def fed(source: Postgres, *, seen: int, kept: int = PLENTY) -> AsyncIterator[JobFeed]:
    """A feed that runs."""
    feed = JobFeed(source, CALLER, "j1", seen=seen, kept=kept)
    task = asyncio.create_task(feed.run())
    yield feed
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def whole(recorded: Sequence[Recorded]) -> list[bytes]:
    """What is told where Postgres has everything from the start."""
    end = recorded[-1].header.position
    async with fed(Postgres(recorded, end), seen=end) as feed:
        await feed.begun()
        return [frame.data for frame in feed.after(0) or ()]


async def test_wherever_postgres_and_the_tail_stand_when_it_begins_it_tells_the_log_once() -> None:
    recorded = history()
    expected = await whole(recorded)
    assert [b"event: done" in data for data in expected].count(True) == 1
    assert b"event: done" in expected[-1]
    positions = [each.header.position for each in recorded]
    for read in positions:
        for folded in (0, *positions):
            source = Postgres(recorded, folded)
            source.read = read
            async with fed(source, seen=read) as feed:
                for each in recorded:
                    if each.header.position > read:
                        feed.push(each)
                await feed.begun()
                source.folded = positions[-1]
                await soon(lambda feed=feed: feed.ended)  # type: ignore[misc]
                assert [frame.data for frame in feed.after(0) or ()] == expected, (read, folded)


async def test_the_end_is_told_only_once_postgres_has_it() -> None:
    recorded = history()
    end = next(each.header.position for each in recorded if each.header.event_type == "JobCompleted")
    source = Postgres(recorded, recorded[0].header.position)
    async with fed(source, seen=0) as feed:
        await feed.begun()
        for each in recorded[1:]:
            feed.push(each)
            assert not feed.ended
        for folded in range(source.folded, end):
            source.folded = folded
            await asyncio.sleep(0)
            assert not feed.ended
        source.folded = end
        await soon(lambda: feed.ended)


async def test_postgres_that_is_away_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream_feed, "PAUSE_SECONDS", 0.0)
    recorded = history()
    source = Postgres(recorded, recorded[0].header.position)
    async with fed(source, seen=0) as feed:
        await feed.begun()
        source.faults, source.folded = 3, recorded[-1].header.position
        for each in recorded[1:]:
            feed.push(each)
        await soon(lambda: feed.ended)
        assert source.faults == 0


async def test_a_job_that_postgres_lost_by_deletion_closes_it() -> None:
    recorded = history()
    source = Postgres(recorded, recorded[0].header.position)
    async with fed(source, seen=0) as feed:
        await feed.begun()
        source.deleted, source.folded = True, recorded[-1].header.position
        for each in recorded[1:]:
            feed.push(each)
        await soon(lambda: feed.closed == "deleted")


async def test_what_is_kept_no_more_is_not_passed_over() -> None:
    recorded = history()
    end = recorded[-1].header.position
    async with fed(Postgres(recorded, end), seen=end, kept=2) as feed:
        await feed.begun()
        floor = recorded[-4].header.position  # the last two told are the ACK and the end; one more came after it
        assert feed.after(floor - 1) is None
        assert len(feed.after(floor) or ()) == 2


async def test_an_event_that_cannot_be_told_closes_the_feed_and_not_the_tail(monkeypatch: pytest.MonkeyPatch) -> None:
    recorded = history()
    async with fed(Postgres(recorded, recorded[0].header.position), seen=0) as feed:
        await feed.begun()
        monkeypatch.setattr("projections.postgres.evolve.progress", None)
        feed.push(recorded[1])
        assert feed.closed == "fault"


async def test_no_such_job_is_said_to_everybody_who_waits() -> None:
    async with fed(Postgres([]), seen=0) as feed:
        for told in await asyncio.gather(feed.begun(), feed.begun(), return_exceptions=True):
            assert isinstance(told, Unknown)


@pytest.mark.parametrize("missing", [1, 2, 3])
async def test_what_does_not_follow_on_what_was_told_is_read_from_postgres(missing: int) -> None:
    recorded = history()
    source = Postgres(recorded, recorded[0].header.position)
    async with fed(source, seen=0) as feed:
        await feed.begun()
        for each in recorded[1:5]:
            if each is not recorded[missing]:
                feed.push(each)
        assert len(feed.after(0) or ()) == missing
        source.folded = recorded[-1].header.position
        await soon(lambda: feed.ended)
        assert [frame.data for frame in feed.after(0) or ()] == await whole(recorded)


async def test_more_than_can_wait_for_postgres_is_read_from_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream_feed, "MAX_WAITING", 2)
    recorded = history()
    source = Postgres(recorded, recorded[0].header.position)
    async with fed(source, seen=recorded[1].header.position) as feed:
        await feed.begun()
        for each in recorded[2:]:
            feed.push(each)
        source.folded = recorded[-1].header.position
        await soon(lambda: feed.ended)
        assert [frame.data for frame in feed.after(0) or ()] == await whole(recorded)


async def test_what_it_takes_a_key_to_read_comes_from_postgres() -> None:
    recorded = history()
    number = next(n for n, each in enumerate(recorded) if each.header.event_type == "NodeFinished")
    closed = replace(recorded[number], event=replace(recorded[number].event, private=sealed(b"\0{}", bytes(32), KEY)))
    source = Postgres(recorded, recorded[0].header.position)
    async with fed(source, seen=0) as feed:
        await feed.begun()
        for each in (*recorded[1:number], closed):
            feed.push(each)
        assert feed.position == recorded[number - 1].header.position
        source.folded = closed.header.position
        await soon(lambda: feed.position == closed.header.position)
