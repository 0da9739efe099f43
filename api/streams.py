"""The streams that are open on this instance: how many there may be, and the jobs that they share.

However many watch a job, its events are read, held and encoded once; the log is read once, by the tail, for all jobs.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

from aiohttp import web

from api.auth import Caller, Keyring
from api.errors import Problem, not_found
from api.lookup import Jobs
from api.modules.feed import ItemFeed, StatsOf
from api.positions import Position
from api.stream_feed import JobFeed
from api.stream_frames import Unknown
from api.tail import Tail
from services.runtime.metrics import level
from services.runtime.settings import Settings

RETRY_AFTER_SECONDS = 5
CHECK_SECONDS = 0.5  # how long all streams of a key go by one look at it, beside what the keyring remembers
MAX_CHECKED = 10_000  # keys looked at; then all are forgotten


@dataclass(slots=True)
class _Shared:
    """A job that is watched, and by how many."""

    feed: JobFeed | ItemFeed
    task: asyncio.Task[None]
    release: Callable[[], None]
    viewers: int = 0


class Streams:
    """Lends feeds to viewers. Once `stop` was called every stream ends, with a word to its viewer."""

    def __init__(self, jobs: Jobs, tail: Tail, keyring: Keyring, settings: Settings) -> None:
        self._jobs, self._tail, self._keyring, self._settings = jobs, tail, keyring, settings
        self._shared: dict[tuple[str, str, str], _Shared] = {}
        self._checked: dict[str, tuple[float, asyncio.Future[Caller]]] = {}
        self._by_key: Counter[str] = Counter()
        self._by_org: Counter[str] = Counter()
        self.stopping = False

    @property
    def open(self) -> int:
        """How many streams are open."""
        return self._by_org.total()

    @property
    def watched(self) -> int:
        """How many jobs they share."""
        return len(self._shared)

    @contextmanager
    def admitted(self, caller: Caller) -> Iterator[None]:
        """Count a stream while the block runs; raise a Problem where the caller has as many as it may."""
        self._refuse(self._by_key[caller.actor], self._settings.streams_per_key, "this key")
        self._refuse(self._by_org[caller.org_id], self._settings.streams_per_org, "the org")
        self._count(caller, 1)
        try:
            yield
        finally:
            self._count(caller, -1)

    @asynccontextmanager
    async def feed(self, caller: Caller, job_id: str) -> AsyncIterator[JobFeed]:
        """Lend the feed of a job's events; raise a Problem where the org has no such job."""
        async with self._lent(("events", caller.org_id, job_id), lambda: self._watch(caller, job_id)) as feed:
            assert isinstance(feed, JobFeed)
            yield feed

    @asynccontextmanager
    async def item_feed(self, caller: Caller, job_id: str, stats_of: StatsOf) -> AsyncIterator[ItemFeed]:
        """Lend the feed of a module job; raise a Problem where the org has no such module job."""
        async with self._lent(("items", caller.org_id, job_id), lambda: self._read(caller, job_id, stats_of)) as feed:
            assert isinstance(feed, ItemFeed)
            yield feed

    @asynccontextmanager
    async def _lent(self, key: tuple[str, str, str], make: Callable[[], _Shared]) -> AsyncIterator[JobFeed | ItemFeed]:
        shared = self._shared.get(key)
        if shared is None or shared.feed.closed:
            shared = self._shared[key] = make()
        shared.viewers += 1
        level("streams_watched_jobs", len(self._shared))
        try:
            try:
                await shared.feed.begun()
            except Unknown:
                raise not_found("job") from None
            yield shared.feed
        finally:
            shared.viewers -= 1
            if not shared.viewers:
                self._let_go(key, shared)

    async def check(self, authorization: str) -> None:
        """Raise what the keyring does where this key is not good any more; all its streams share one look."""
        now = asyncio.get_running_loop().time()
        at, look = self._checked.get(authorization, (-CHECK_SECONDS, None))
        if look is None or now - at >= CHECK_SECONDS:
            if len(self._checked) >= MAX_CHECKED:
                self._checked.clear()
            look = asyncio.ensure_future(self._keyring.caller(authorization))
            self._checked[authorization] = (now, look)
        await asyncio.shield(look)

    async def knows(self, position: Position) -> bool:
        """Whether the log has a position; true also where that cannot be told: it may come. Raises TailBehind."""
        if self._seen(position.partition) >= position.position:
            return True
        await self._tail.read_to_end(position.partition)
        return self._seen(position.partition) >= position.position

    async def stop(self, _app: web.Application) -> None:
        """Let every stream end."""
        self.stopping = True
        for shared in self._shared.values():
            shared.feed.wake()

    def _watch(self, caller: Caller, job_id: str) -> _Shared:
        seen = self._tail.position(caller.partition)
        whose = Caller(org_id=caller.org_id, partition=caller.partition)
        feed = JobFeed(self._jobs, whose, job_id, seen=seen, kept=self._settings.stream_kept_events)
        self._tail.watch(caller.org_id, job_id, feed.push)
        task = asyncio.create_task(feed.run(), name="job feed")
        return _Shared(feed, task, lambda: self._tail.unwatch(caller.org_id, job_id))

    def _read(self, caller: Caller, job_id: str, stats_of: StatsOf) -> _Shared:
        whose = Caller(org_id=caller.org_id, partition=caller.partition)
        feed = ItemFeed(self._jobs, stats_of, whose, job_id, kept=self._settings.stream_kept_events)
        return _Shared(feed, asyncio.create_task(feed.run(), name="item feed"), lambda: None)

    def _let_go(self, key: tuple[str, str, str], shared: _Shared) -> None:
        shared.task.cancel()
        if self._shared.get(key) is shared:
            del self._shared[key]
            shared.release()
        level("streams_watched_jobs", len(self._shared))

    def _seen(self, partition: int) -> int:
        return max(self._tail.position(partition), self._jobs.folded(partition))

    def _count(self, caller: Caller, by: int) -> None:
        for counter, name in ((self._by_key, caller.actor), (self._by_org, caller.org_id)):
            counter[name] += by
            if not counter[name]:
                del counter[name]
        level("streams_open", self.open)

    def _refuse(self, has: int, may: int, who: str) -> None:
        if has >= may:
            raise Problem(
                "too_many_streams",
                f"{who} has {has} streams open here, as many as it may: close some, or poll the job",
                details={"limit": may},
                headers={"Retry-After": str(RETRY_AFTER_SECONDS)},
            )
