"""The events of one job, as all its streams on this instance get them: from Postgres up to now, then from the tail.

The two are joined by the ordinals of the job's events, which have no gaps: what the tail brings is told where it is the
next one. Where it is not, where it ends the job, and where it takes a key to read, it is held back until Postgres has
it, and read there: whoever learns of an end can read what the job left.
"""

import asyncio
import logging
from collections.abc import Sequence
from typing import Protocol

import psycopg
import psycopg_pool

from api import stream_answers
from api.auth import Caller
from api.stream_frames import Frame, Frames, Unknown
from projections.postgres import evolve
from projections.postgres.rows import JobState, Transition, Visit
from projections.postgres.views import Progress
from schemas.events import JobDeleted, JobEvent, JobSubmitted, NodeFinished
from schemas.recorded import Recorded
from services.ledger.status import TERMINAL, TRANSITIONS
from services.runtime.shredding.codec import is_sealed

log = logging.getLogger(__name__)
WAIT_SECONDS = 30.0  # for Postgres, before it is asked again whether it has come so far
PAUSE_SECONDS = 0.5  # before Postgres is asked again after a fault
MAX_WAITING = 10_000  # events held back; with more, all of them are read from Postgres
STORE_FAULTS = (psycopg.OperationalError, psycopg_pool.PoolTimeout)


class Source(Protocol):
    """Where the past of a job comes from; `Jobs` is one."""

    async def progress(self, caller: Caller, job_id: str, after: int) -> Progress:
        """Return what Postgres has behind an ordinal."""

    async def held(self, caller: Caller, job_id: str) -> Sequence[Recorded]:
        """Return the events of a job that Postgres may lack altogether."""

    async def reached(self, partition: int, position: int, timeout_seconds: float) -> bool:
        """Wait until Postgres has a position."""


class JobFeed(Frames):
    """Keeps the newest events of a job while anybody watches it; `push` takes them from the tail, `run` does the rest.

    `seen` is how far the tail had read its partition when it began to push.
    """

    def __init__(self, source: Source, caller: Caller, job_id: str, *, seen: int, kept: int) -> None:
        super().__init__(kept)
        self._source, self._caller, self._job_id = source, caller, job_id
        self._job: JobState | None = None  # as of the last event told
        self._status = ""
        self._wanted = seen  # position that Postgres has to have before anything more is told
        self._holding = True
        self._waiting: list[Recorded] = []  # from the tail, while holding
        self._hold = asyncio.Event()
        self._hold.set()

    def push(self, recorded: Recorded) -> None:
        """Take an event from the tail. Never raises: a fault ends this feed, not the tail."""
        if self.ended or self.closed:
            return
        if self._holding:
            self._waiting.append(recorded)
            if len(self._waiting) > MAX_WAITING:
                self._want(recorded.header.position)
            return
        try:
            self._take(recorded)
        except Exception:
            log.exception("an event of a watched job cannot be told", extra={"job_id": self._job_id})
            self._close("fault")

    async def run(self) -> None:
        """Bring the past, then whatever the tail cannot bring, until the job has ended."""
        try:
            await self._begin()
            self._begun.set_result(None)
            while not (self.ended or self.closed):
                await self._hold.wait()
                await self._catch_up()
        except Exception as error:
            if not self._broke(error):
                log.exception("a watched job cannot be followed", extra={"job_id": self._job_id})

    async def _begin(self) -> None:
        progress = await self._progress()
        if progress.job is None:
            held = await self._source.held(self._caller, self._job_id)
            if held:
                self._release(held)
                return
            progress = await self._progress()  # it may have left the tail for Postgres in between
            if progress.job is None:
                raise Unknown
        self._load(progress)

    async def _catch_up(self) -> None:
        """Read from Postgres, once it has come so far, what the tail could not tell."""
        while self._holding and not (self.ended or self.closed):
            wanted = self._wanted
            try:
                if not await self._source.reached(self._caller.partition, wanted, WAIT_SECONDS):
                    continue
                progress = await self._progress()
            except STORE_FAULTS as fault:
                log.warning("a watched job waits for Postgres", extra={"job_id": self._job_id, "reason": str(fault)})
                await asyncio.sleep(PAUSE_SECONDS)
                continue
            if progress.job is None and progress.position >= wanted:
                self._close("deleted")
            else:
                self._load(progress)
            if self._holding and progress.position < wanted:
                await asyncio.sleep(PAUSE_SECONDS)  # asked over a connection that does not see it yet

    async def _progress(self) -> Progress:
        return await self._source.progress(self._caller, self._job_id, self._job.seq if self._job else 0)

    def _load(self, progress: Progress) -> None:
        visits = {visit.seq: visit for visit in progress.trace}
        for row in progress.transitions:
            self._tell(row, visits.get(row.seq))
        self._job = progress.job or self._job
        if progress.position >= self._wanted:
            self._release(())

    def _release(self, held: Sequence[Recorded]) -> None:
        waiting, self._waiting, self._holding = self._waiting, [], False
        self._hold.clear()
        for recorded in (*held, *waiting):
            self.push(recorded)

    def _take(self, recorded: Recorded) -> None:
        """Tell the next event of the job; hold one that is not the next, or that only Postgres may tell."""
        header, event = recorded.header, recorded.event
        assert isinstance(event, JobEvent)
        if self._job is None and isinstance(event, JobSubmitted):
            self._job = evolve.submitted(header, event)
        seq = self._job.seq if self._job else 0
        if header.seq <= seq:
            return
        rule = TRANSITIONS.get(type(event))
        sealed = isinstance(event, NodeFinished) and is_sealed(event.private)
        last = isinstance(event, JobDeleted) or (rule and rule[1] in TERMINAL)
        if self._job is None or header.seq > seq + 1 or sealed or last:
            self._want(header.position)
            return
        evolve.progress(self._job, header, event)
        visit = evolve.visit(header, event) if isinstance(event, NodeFinished) else None
        self._tell(evolve.transition(self._job, header, event), visit)

    def _want(self, position: int) -> None:
        self._wanted, self._holding = position, True
        self._waiting.clear()
        self._hold.set()

    def _tell(self, row: Transition, visit: Visit | None) -> None:
        if self.ended:
            return
        self._keep(Frame(row.position, stream_answers.told(row, visit, self._status)))
        self._status = row.status
        self.ended = row.status in TERMINAL
        self.wake()
