"""The tail of the log."""

import asyncio
import threading
import time
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest

from api import tail as module
from api.tail import Tail, TailBehind, is_recent
from schemas.events import AnyEvent, JobClaimed, JobSubmitted
from schemas.recorded import Header, Recorded
from services.runtime.errors import RegistryFault
from services.runtime.ids import uuid7
from services.runtime.ledger_log import Entry
from tests.eventually import eventually


class Events:
    """A log of one partition: `say` appends an event and its marker."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.end = 0
        self.folded = 0
        self.closed = False
        self._next = 0
        self._passed = 0
        self._news = threading.Condition()
        self.registry_faults = 0  # polls that end with one before the next event comes

    def say(self, event: AnyEvent, *, visible: bool = True) -> None:
        """Append an event; one that is not visible keeps the reader waiting, as a slow broker does."""
        position = len(self.entries) + 1
        header = Header(
            event_id=bytes(16),
            event_type=type(event).__name__,
            seq=1,
            partition=0,
            position=position,
            occurred_at=position,
            actor="",
            cause=0,
            correlation_id="",
            traceparent="",
            prev_hash=bytes(32),
        )
        with self._news:
            if visible:
                self.entries.append(Entry(Recorded(header, event), b"", header.event_type, 0, self.end, position))
            self.end += 2
            self._news.notify_all()

    def abort(self) -> None:
        """Let a transaction end the log of which nothing is kept; the reader passes it."""
        self.end += 2
        self._passed = self.end

    def next_offsets(self) -> dict[int, int]:
        """Return where reading goes on."""
        return {0: max([self._passed, *(entry.next_offset for entry in self.entries[: self._next])])}

    def poll(self, max_events: int, timeout_seconds: float) -> Sequence[Entry]:
        """Return what is new."""
        with self._news:
            self._news.wait_for(lambda: len(self.entries) > self._next, timeout_seconds)
            if self.registry_faults and len(self.entries) > self._next:
                self.registry_faults -= 1
                raise RegistryFault("no schema registry answers")
            new = self.entries[self._next : self._next + max_events]
            self._next += len(new)
            return new

    def close(self) -> None:
        """Note that it was closed."""
        self.closed = True

    async def end_of(self, _partition: int) -> int | None:
        """Where the log ends."""
        return self.end

    async def checkpoints(self) -> dict[int, int]:
        """What Postgres has."""
        return {0: self.folded}


@asynccontextmanager
async def _running(events: Events, max_jobs: int = 10) -> AsyncIterator[Tail]:
    tail = Tail(events, events.end_of, events.checkpoints, max_jobs)
    task = asyncio.create_task(tail.run())
    try:
        yield tail
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        tail.close()
    assert events.closed


def _submitted(job_id: str, org_id: str = "acme") -> JobSubmitted:
    return JobSubmitted(org_id=org_id, job_id=job_id)


async def test_a_job_is_found_with_its_events_by_its_own_org_only() -> None:
    events, job_id = Events(), uuid7()
    async with _running(events) as tail:
        events.say(_submitted(job_id))
        events.say(JobClaimed(org_id="acme", job_id=job_id))
        found = await tail.find("acme", 0, [job_id])
        assert isinstance(found[job_id][0].event, JobSubmitted)
        assert await tail.find("rival", 0, [job_id]) == {}


async def test_it_waits_for_a_registry_that_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "REGISTRY_SECONDS", 0.01)
    events, job_id = Events(), uuid7()
    async with _running(events) as tail:
        events.registry_faults = 3
        events.say(_submitted(job_id))
        await eventually(lambda: tail.jobs_held == 1)
        assert events.registry_faults == 0
        assert job_id in await tail.find("acme", 0, [job_id])


async def test_it_waits_for_the_end_of_the_log_as_it_was_when_asked() -> None:
    events, job_id = Events(), uuid7()
    async with _running(events) as tail:
        events.say(_submitted(uuid7()), visible=False)
        asked = asyncio.create_task(tail.find("acme", 0, [job_id]))
        done, _ = await asyncio.wait([asked], timeout=0.1)
        assert not done
        events.say(_submitted(job_id))
        assert list(await asked) == [job_id]


async def test_it_does_not_say_no_before_it_has_read_up_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BARRIER_SECONDS", 0.05)
    events = Events()
    async with _running(events) as tail:
        events.say(_submitted(uuid7()), visible=False)
        with pytest.raises(TailBehind):
            await tail.find("acme", 0, [uuid7()])


async def test_what_a_dead_decider_has_not_committed_keeps_nobody_waiting() -> None:
    events = Events()
    async with _running(events) as tail:
        events.say(_submitted(uuid7()))
        events.abort()
        assert await tail.find("acme", 0, [uuid7()]) == {}


async def test_where_the_end_cannot_be_known_it_waits_for_the_job_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BARRIER_SECONDS", 0.05)
    events = Events()

    async def unknown(_partition: int) -> int | None:
        return None

    tail = Tail(events, unknown, events.checkpoints)
    assert await tail.find("acme", 0, [uuid7()]) == {}


async def test_a_broker_that_does_not_tell_the_end_in_time_is_no_reason_to_say_no(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "BARRIER_SECONDS", 0.05)
    events = Events()

    async def silent(_partition: int) -> int | None:
        await asyncio.Event().wait()
        return 0

    tail = Tail(events, silent, events.checkpoints)
    with pytest.raises(TailBehind):
        await tail.find("acme", 0, [uuid7()])


async def test_an_old_job_id_is_not_waited_for() -> None:
    events = Events()
    async with _running(events) as tail:
        events.say(_submitted(uuid7()), visible=False)
        async with asyncio.timeout(1):
            assert await tail.find("acme", 0, ["01800000-0000-7000-8000-000000000000"]) == {}


async def test_what_postgres_has_is_let_go_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PRUNE_SECONDS", 0.0)
    events, first, second = Events(), uuid7(), uuid7()
    async with _running(events) as tail:
        events.say(_submitted(first))
        events.say(_submitted(second))
        await tail.find("acme", 0, [first, second])
        events.folded = 1
        events.say(_submitted(uuid7()))
        async with asyncio.timeout(5):
            while await tail.find("acme", 0, [first]):  # noqa: ASYNC110  # nothing tells; the tail needs its turns
                await asyncio.sleep(0)
        assert list(await tail.find("acme", 0, [first, second])) == [second]


async def test_jobs_that_had_to_be_forgotten_are_not_denied() -> None:
    events, jobs = Events(), [uuid7() for _ in range(5)]
    async with _running(events, max_jobs=3) as tail:
        for job_id in jobs:
            events.say(_submitted(job_id))
        assert set(await tail.find("acme", 0, jobs[2:])) == set(jobs[2:])
        with pytest.raises(TailBehind, match="behind"):
            await tail.find("acme", 0, [jobs[0]])


def test_only_a_fresh_uuid_of_version_7_is_recent() -> None:
    now = time.time()
    assert is_recent(uuid7(), now)
    assert not is_recent(uuid7(), now + 600)
    assert not is_recent(uuid7(), now - 600)
    assert not is_recent(str(uuid.uuid4()), now)
    assert not is_recent("junk", now)
