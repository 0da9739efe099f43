"""Finds jobs: in Postgres, or, for the moment before it has them, in the tail of the log."""

from collections.abc import Sequence
from datetime import datetime

from api import folded
from api.auth import Caller
from api.revealing import readable
from api.tail import Tail
from projections.postgres.item_reading import ItemReads
from projections.postgres.read import ReadModel
from projections.postgres.rows import Delivery, Job
from projections.postgres.spider_reading import SpiderReads
from projections.postgres.views import Cursor, Extraction, Extractions, Filters, JobDetail, Page, Progress, Replayable
from schemas.events import JobDeleted
from schemas.recorded import Recorded
from services.runtime.shredding.codec import KeysOfJobs

FOLD_SECONDS = 2.0


class Jobs:
    """Jobs of one org at a time: each method takes the caller, and no method finds another org's job or a deleted one.

    `find` and `statuses` raise api.tail.TailBehind where it is not known in time whether a job exists.
    """

    def __init__(self, model: ReadModel, tail: Tail, keys: KeysOfJobs) -> None:
        self._model = model
        self._tail = tail
        self._keys = keys

    async def find(self, caller: Caller, job_id: str) -> JobDetail | None:
        """Return a job in full, or None once it is certain that the org has no such job."""
        if detail := await self._model.job(caller.org_id, job_id):
            return detail
        if events := (await self._held(caller, [job_id])).get(job_id):
            return folded.detail(await readable(self._keys, events))
        return await self._model.job(caller.org_id, job_id)  # it may have left the tail for Postgres in between

    async def find_behind(self, caller: Caller, job_id: str, position: int) -> JobDetail | None:
        """Return a job once Postgres has folded a position of its partition; after some seconds, as it is."""
        await self._model.reached(caller.partition, position, FOLD_SECONDS)
        return await self.find(caller, job_id)

    async def progress(self, caller: Caller, job_id: str, after: int) -> Progress:
        """Return what Postgres has of a job's events behind an ordinal."""
        return await self._model.progress(caller.org_id, job_id, caller.partition, after)

    async def held(self, caller: Caller, job_id: str) -> Sequence[Recorded]:
        """Return the events of a job that Postgres may lack altogether, oldest first; none: it has them."""
        return (await self._held(caller, [job_id])).get(job_id, [])

    async def head(self, caller: Caller, job_id: str) -> Job | None:
        """Return the row of a job that Postgres has; whether it has ended is known only there."""
        return await self._model.head(caller.org_id, job_id)

    async def statuses(self, caller: Caller, job_ids: Sequence[str]) -> dict[str, str]:
        """Return the status of each of these jobs that the org has."""
        found = await self._stored(caller, job_ids)
        missing = [job_id for job_id in job_ids if job_id not in found]
        if missing:
            held = await self._held(caller, missing)
            found |= {job_id: folded.detail(events).job.status for job_id, events in held.items()}
            found |= await self._stored(caller, [job_id for job_id in missing if job_id not in held])
        return found

    async def page(
        self, caller: Caller, filters: Filters, *, after: Cursor | None, limit: int, oldest_first: bool
    ) -> Page:
        """Return a page of the org's jobs. Postgres only: one made this instant may not be on it yet."""
        return await self._model.page(caller.org_id, filters, after=after, limit=limit, oldest_first=oldest_first)

    async def extraction(self, caller: Caller, job_id: str) -> Extraction | None:
        """Return the extraction that the internal destination holds of a job."""
        return await self._model.extraction(caller.org_id, job_id)

    async def expired_at(self, caller: Caller, job_id: str) -> datetime | None:
        """Return since when the results of a job are past retention; None: they are not, as far as is known."""
        return await self._model.expired_at(caller.org_id, job_id)

    async def extractions(self, caller: Caller, *, domain: str, url: str, limit: int, offset: int) -> Extractions:
        """Return a page of the org's extractions, newest first."""
        return await self._model.extractions(caller.org_id, domain=domain, url=url, limit=limit, offset=offset)

    async def deliveries_to(self, caller: Caller, destination_ids: Sequence[str], limit: int) -> list[Delivery]:
        """Return the newest deliveries to any of these destinations of the org. Postgres only."""
        return await self._model.deliveries_to(caller.org_id, destination_ids, limit)

    async def replayable(self, caller: Caller, which: Replayable, limit: int) -> list[Delivery]:
        """Return newest deliveries that may be made once more. Postgres only."""
        return await self._model.replayable(caller.org_id, which, limit)

    async def deleted(self, caller: Caller, job_id: str) -> bool:
        """Tell whether the org had this job and deleted it."""
        return bool(await self._model.deleted(caller.org_id, [job_id]))

    @property
    def items(self) -> ItemReads:
        """Chunks and lines of jobs that were found. Postgres only."""
        return self._model.items

    @property
    def spiders(self) -> SpiderReads:
        """Spider jobs, whose org each read is told. Postgres only."""
        return self._model.spiders

    def folded(self, partition: int) -> int:
        """Return a position as of which everyone sees the ledger at least."""
        return self._model.folded(partition)

    async def reached(self, partition: int, position: int, timeout_seconds: float) -> bool:
        """Tell whether everyone sees the ledger as of a position at least, waiting for that at most so long."""
        return await self._model.reached(partition, position, timeout_seconds)

    async def _held(self, caller: Caller, job_ids: Sequence[str]) -> dict[str, list[Recorded]]:
        """Return the events of jobs that the tail holds; not of deleted ones, of which it may not know yet."""
        held = await self._tail.find(caller.org_id, caller.partition, job_ids)
        gone = await self._model.deleted(caller.org_id, list(held)) if held else set()
        gone |= {
            job_id for job_id, events in held.items() if any(isinstance(each.event, JobDeleted) for each in events)
        }
        return {job_id: events for job_id, events in held.items() if job_id not in gone}

    async def _stored(self, caller: Caller, job_ids: Sequence[str]) -> dict[str, str]:
        if not job_ids:
            return {}
        rows = await self._model.statuses(caller.org_id, job_ids)
        return {job_id: row.status for job_id, row in rows.items()}
