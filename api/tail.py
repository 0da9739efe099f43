"""The tail of the log: the events of jobs that Postgres does not have yet, so that a job exists once it was accepted.

Every API instance reads all partitions from Postgres's checkpoints on and keeps what Postgres lacks. `find` answers
from there; for a job id made in the last minutes that is not there it first reads up to the log's present end: only
then is it certain that there is no such job.

TailBehind  the end of the log was not reached in time: whether the job exists is not known
"""

import asyncio
import logging
import time
import uuid
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Protocol

from schemas.events import JobSubmitted
from schemas.recorded import Recorded
from services.runtime.errors import RegistryFault
from services.runtime.ledger_log import Entry

log = logging.getLogger(__name__)

POLL_EVENTS = 500
POLL_SECONDS = 0.5  # Kafka wakes a waiting fetch on data; this only bounds how long closing takes
PRUNE_SECONDS = 1.0
BARRIER_SECONDS = 2.0  # how long a reader waits for the log's present end
REGISTRY_SECONDS = 1.0  # until a registry that is away is asked again
RECENT_SECONDS = 300.0  # a job id older than this is not worth a look at the log's end
MAX_JOBS = 200_000  # held while the projection stands still; about 1 GB
Watcher = Callable[[Recorded], None]
MARKER = 1  # the last offset of a transaction is its marker; the reader passes it some 0.5 s later, with the next fetch


class TailBehind(Exception):
    """Whether the job exists is not known yet."""


class Feed(Protocol):
    """Where the events come from: a LedgerLog, or a list in a test. Called from one thread at a time."""

    def poll(self, max_events: int, timeout_seconds: float) -> Sequence[Entry]:
        """Return the next events, waiting at most so long for the first."""

    def next_offsets(self) -> Mapping[int, int]:
        """Return where reading each partition goes on, markers and aborted records at its end passed."""

    def close(self) -> None:
        """Let go of it."""


@dataclass(slots=True)
class Held:
    """The events of one job, oldest first, and the position of its first, which decides when Postgres has it."""

    partition: int
    position: int
    events: list[Recorded] = field(default_factory=list)


class Tail:
    """Follows the events; every method runs in one event loop, and only the reading itself in a thread.

    `ends` tells the end offset of a partition, or None where the broker cannot tell it; `checkpoints` tells the
    position up to which Postgres has each partition, as far as it answers.
    """

    def __init__(
        self,
        feed: Feed,
        ends: Callable[[int], Awaitable[int | None]],
        checkpoints: Callable[[], Awaitable[Mapping[int, int]]],
        max_jobs: int = MAX_JOBS,
    ) -> None:
        self._feed = feed
        self._next_offsets = feed.next_offsets()
        self._ends = ends
        self._checkpoints = checkpoints
        self._max_jobs = max_jobs
        self._held: dict[str, Held] = {}
        self._positions: dict[int, int] = {}
        self._watchers: dict[tuple[str, str], Watcher] = {}
        self._forgot = False  # jobs had to be let go of before Postgres had them
        self._moved = asyncio.Event()
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="tail")

    async def run(self) -> None:
        """Follow the log until cancelled; what makes that impossible is raised."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._follow())
            group.create_task(self._let_go())

    async def _follow(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                entries = await loop.run_in_executor(self._reader, self._feed.poll, POLL_EVENTS, POLL_SECONDS)
            except RegistryFault as fault:  # a record of an unknown schema, which only the registry can tell from junk
                log.warning("the tail waits for the schema registry", extra={"reason": str(fault)})
                await asyncio.sleep(REGISTRY_SECONDS)
                continue
            self._take(entries, self._feed.next_offsets())

    async def _let_go(self) -> None:
        while True:
            await asyncio.sleep(PRUNE_SECONDS)
            if self._held:
                self._prune(await self._checkpoints())

    def close(self) -> None:
        """Let go of the log, behind the poll that may still be running."""
        self._reader.submit(self._feed.close)
        self._reader.shutdown(wait=True)

    @property
    def jobs_held(self) -> int:
        """How many jobs are kept because Postgres may lack them."""
        return len(self._held)

    @property
    def watched(self) -> int:
        """How many jobs somebody watches."""
        return len(self._watchers)

    def next_offset(self, partition: int) -> int:
        """Return where reading a partition goes on."""
        return self._next_offsets.get(partition, 0)

    def position(self, partition: int) -> int:
        """Return the position of the last event read of a partition; 0: none since the tail began at Postgres's."""
        return self._positions.get(partition, 0)

    def watch(self, org_id: str, job_id: str, watcher: Watcher) -> None:
        """Give every event of a job to `watcher`, from the next one on; one job has one watcher, which never raises."""
        self._watchers[org_id, job_id] = watcher

    def unwatch(self, org_id: str, job_id: str) -> None:
        """Stop doing so."""
        del self._watchers[org_id, job_id]

    async def read_to_end(self, partition: int) -> None:
        """Return once the present end of a partition has been read; raise TailBehind where that takes too long."""
        await self._catch_up(partition, lambda: False, asyncio.get_running_loop().time() + BARRIER_SECONDS)

    async def find(self, org_id: str, partition: int, job_ids: Iterable[str]) -> dict[str, list[Recorded]]:
        """Return the events of those of these jobs that the org has and Postgres may lack, oldest first.

        Raises TailBehind where one is missing that may yet turn up.
        """
        wanted = set(job_ids)
        deadline = asyncio.get_running_loop().time() + BARRIER_SECONDS
        found = self._look(org_id, wanted)
        if any(is_recent(job_id, time.time()) for job_id in wanted - found.keys()):
            await self._catch_up(partition, lambda: wanted <= self._look(org_id, wanted).keys(), deadline)
            found = self._look(org_id, wanted)
        if self._forgot and wanted - found.keys():
            raise TailBehind("the projection is far behind, and not every new job could be kept in memory")
        return found

    def _look(self, org_id: str, wanted: set[str]) -> dict[str, list[Recorded]]:
        return {
            job_id: list(held.events)
            for job_id in wanted
            if (held := self._held.get(job_id)) and held.events[0].event.org_id == org_id
        }

    async def _catch_up(self, partition: int, enough: Callable[[], bool], deadline: float) -> None:
        """Return when `enough` holds or the log's present end has been read; raise TailBehind at the deadline."""
        unknowable = False
        try:
            async with asyncio.timeout_at(deadline):
                end = await self._ends(partition)
                unknowable = end is None
                while not enough() and (end is None or self.next_offset(partition) < end - MARKER):
                    await self._moved.wait()
        except TimeoutError:
            if not unknowable:
                raise TailBehind(f"partition {partition} of the log was not read to its end in time") from None

    def _take(self, entries: Sequence[Entry], next_offsets: Mapping[int, int]) -> None:
        for entry in entries:
            self._positions[entry.partition] = entry.position
            if entry.recorded and entry.recorded.event.job_id:
                self._keep(entry.recorded)
                if watcher := self._watchers.get((entry.recorded.event.org_id, entry.recorded.event.job_id)):
                    watcher(entry.recorded)
        if next_offsets != self._next_offsets:
            self._next_offsets = next_offsets
            self._moved.set()
            self._moved = asyncio.Event()

    def _keep(self, recorded: Recorded) -> None:
        job_id, header = recorded.event.job_id, recorded.header
        if isinstance(recorded.event, JobSubmitted):
            if len(self._held) >= self._max_jobs:
                del self._held[next(iter(self._held))]
                self._forgot = True
            self._held[job_id] = Held(header.partition, header.position)
        if held := self._held.get(job_id):
            held.events.append(recorded)

    def _prune(self, positions: Mapping[int, int]) -> None:
        """Let go of the jobs that Postgres has; it shows them from now on."""
        held = self._held.items()
        self._held = {job_id: job for job_id, job in held if job.position > positions.get(job.partition, 0)}
        self._forgot = self._forgot and bool(self._held)


def is_recent(job_id: str, now: float) -> bool:
    """Whether a job id, a UUID of version 7, was made in the last minutes (now: seconds since 1970)."""
    try:
        identifier = uuid.UUID(job_id)
    except ValueError:
        return False
    made = (identifier.int >> 80) / 1000
    return identifier.version == 7 and -RECENT_SECONDS < now - made < RECENT_SECONDS
