"""A module job as all its streams on this instance get it: Postgres is asked once a tick, however many watch.

What the job said comes behind the position up to which it was told, then how far the job has come as of that. So the
id of each message is a position up to which everything was told, and a viewer who comes back with it misses nothing.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from datetime import datetime
from typing import Protocol

import psycopg
import psycopg_pool

from api.auth import Caller
from api.modules.shown import downloadable, query_stats, started, state_of
from api.modules.stream_answers import StreamedEnd, StreamedStatus, all_logged, logged
from api.positions import Position
from api.stream_answers import sse
from api.stream_frames import Frame, Frames, Unknown
from api.tail import TailBehind
from projections.postgres.item_reading import Said, come_of
from projections.postgres.rows import Job
from projections.postgres.views import JobDetail
from schemas.values import Vocabulary
from services.ledger.status import TERMINAL
from services.runtime.errors import BlobFault
from services.workers.modules.stats import Stats

log = logging.getLogger(__name__)
TICK_SECONDS = 2.0
PAGE = 200  # positions with lines that are read at once
AWAY = (psycopg.OperationalError, psycopg_pool.PoolTimeout, BlobFault, TailBehind)
StatsOf = Callable[[Job], Awaitable[Stats]]


class Lines(Protocol):
    """What jobs said; ItemReads is one."""

    def said(self, org_id: str, job_id: str, after: int, limit: int) -> Awaitable[list[Said]]:
        """Return what a job said behind a position."""


class Source(Protocol):
    """Where jobs are; `Jobs` is one."""

    @property
    def items(self) -> Lines:
        """Tells what jobs said."""

    async def head(self, caller: Caller, job_id: str) -> Job | None:
        """Return the row of a job that Postgres has."""

    async def find(self, caller: Caller, job_id: str) -> JobDetail | None:
        """Return a job in full, also one that Postgres lacks."""


class ItemFeed(Frames):
    """Frames are counted from 1: a status that says the same again is one more."""

    def __init__(self, source: Source, stats_of: StatsOf, caller: Caller, job_id: str, *, kept: int) -> None:
        super().__init__(kept)
        self._source, self._stats_of, self._caller, self._job_id = source, stats_of, caller, job_id
        self._told = 0  # position up to which everything that the job said was told
        self._counted: tuple[str, Stats] = ("", Stats())  # of the newest chunk that was looked at
        self._status: StreamedStatus | None = None  # the newest
        self._end = (b"", b"")  # the last status, and `done`
        self.end = 0  # position of the event that ended the job; 0: it has not ended

    async def run(self) -> None:
        """Look at the job at each tick until it has ended."""
        try:
            await self._look()
            self._begun.set_result(None)
            while not (self.ended or self.closed):
                await asyncio.sleep(TICK_SECONDS)
                try:
                    await self._look()
                except AWAY as fault:
                    log.warning("a watched job waits", extra={"job_id": self._job_id, "reason": str(fault)})
        except Unknown as gone:
            if not self._broke(gone):
                self._close("deleted")
        except Exception as error:
            if not self._broke(error):
                log.exception("a watched module job cannot be followed", extra={"job_id": self._job_id})

    def joined(self, after: int | None) -> tuple[int, AsyncGenerator[bytes]]:
        """Return the place in the feed of a viewer who has everything up to a position, and what it lacks up to there.

        None: it has nothing, and wants to know at once how far the job has come.
        """
        status, done = self._end
        if self.ended:
            behind = done if after is not None and after >= self.end else status + done
        else:
            behind = b"" if self._status is None or after is not None else self._said_of(self._status)
        return self.position, self._past(after or 0, self._told, behind)

    async def _past(self, after: int, upto: int, behind: bytes) -> AsyncGenerator[bytes]:
        while after < upto:
            rows = await self._said(after)
            yield all_logged([row for row in rows if row.position <= upto], self._caller.partition)
            if len(rows) < PAGE:
                break
            after = rows[-1].position
        yield behind

    async def _look(self) -> None:
        """Read the job, and tell what is new."""
        job = await self._source.head(self._caller, self._job_id)
        if job is None:
            detail = await self._source.find(self._caller, self._job_id)
            if detail is None or detail.job.vocabulary != Vocabulary.MODULE:
                raise Unknown
            self._tell_status(await self._progress(detail.job))  # Postgres has nothing of what it said
            return
        if job.vocabulary != Vocabulary.MODULE:
            raise Unknown
        status = await self._progress(job)
        if self._begun.done():
            await self._tell_lines(job.position)
        self._told = max(self._told, job.position)
        if job.status in TERMINAL:
            await self._tell_end(job, status)
        else:
            self._tell_status(status)

    async def _progress(self, job: Job) -> StreamedStatus:
        come = come_of(job)
        if come.newest_ref != self._counted[0]:
            self._counted = (come.newest_ref, await self._stats_of(job))
        return StreamedStatus(
            id=job.job_id,
            status=state_of(job),
            processed_points=come.processed,
            grid_points_count=come.planned,
            results_count=come.rows,
            error_count=come.errors,
            download_available=downloadable(job),
            query_stats=query_stats(self._counted[1]),
        )

    async def _tell_lines(self, upto: int) -> None:
        while self._told < upto:
            rows = await self._said(self._told)
            for row in rows:
                if line := logged(row, self._caller.partition):
                    self._add(line)
                self._told = row.position
            if len(rows) < PAGE:
                break

    def _tell_status(self, status: StreamedStatus) -> None:
        self._status = status
        self._add(self._said_of(status))

    def _said_of(self, status: StreamedStatus) -> bytes:
        """Return the bytes of a status; whoever gets it has everything up to its id."""
        return sse("status", status, Position(self._caller.partition, self._told))

    async def _tell_end(self, job: Job, status: StreamedStatus) -> None:
        detail = await self._source.find(self._caller, self._job_id)
        if detail is None:
            raise Unknown
        self.end = next(row.position for row in detail.transitions if row.seq == detail.job.finished_seq)
        began, ended = started(detail.transitions), job.finished_at
        seconds = _between(began, ended)
        done = StreamedEnd(
            id=job.job_id, status=status.status, results_count=status.results_count, duration_seconds=seconds
        )
        # Ids of their own, so that whoever was cut off between the two gets the second alone.
        self._end = (
            sse("status", status, Position(self._caller.partition, self.end)),
            sse("done", done, Position(self._caller.partition, self.end + 1)),
        )
        self.ended = True
        for each in self._end:
            self._add(each)

    async def _said(self, after: int) -> list[Said]:
        return await self._source.items.said(self._caller.org_id, self._job_id, after, PAGE)

    def _add(self, data: bytes) -> None:
        self._keep(Frame(self.position + 1, data))
        self.wake()


def _between(began: datetime | None, ended: datetime | None) -> float:
    return round((ended - began).total_seconds(), 3) if began and ended else 0.0
