"""Reads spider jobs of the org that a call is about, their items a page at a time, and what came of their spiders."""

from contextlib import aclosing
from typing import NamedTuple

from api.errors import Problem, not_found
from api.exports.chunks import chunks_of
from api.operation import Call
from api.routes.jobs import job_id_of
from api.spiders.empty import PAST_RETENTION
from api.spiders.frame import acting, orgs_of, own_org
from api.spiders.job_shown import of_detail
from api.times import iso
from projections.postgres.item_reading import come_of
from projections.postgres.spider_views import SpiderJob
from schemas.values import Vocabulary

MAX_PAGE_BYTES = 8 * 1024 * 1024  # of items in one answer; one item is always whole


class Items(NamedTuple):
    """Items of a job, each as JSON, and the ordinal of the one that comes next."""

    rows: list[bytes]
    next: int


async def job_of(call: Call, named: str | None) -> tuple[Call, SpiderJob]:
    """Return the spider job in the path, from the first moment after it was accepted, or raise that there is none.

    And the call as one of the org that has it: the operator need not name which one that is.
    """
    job_id = job_id_of(call)
    if own_org(call.caller, named) is None:
        return await _of_any(call, job_id)
    call = await acting(call, named)
    return call, await job_made(call, job_id)


async def job_made(call: Call, job_id: str) -> SpiderJob:
    """Return a spider job of the caller's org, or raise that there is none."""
    if job := await call.parts.jobs.spiders.job(call.caller.org_id, job_id):
        return job
    detail = await call.parts.jobs.find(call.caller, job_id)
    if detail is None or detail.job.vocabulary != Vocabulary.SPIDER:
        raise not_found("spider job")
    return of_detail(detail)


async def _of_any(call: Call, job_id: str) -> tuple[Call, SpiderJob]:
    """Return a job of whichever org: of one that Postgres lacks for the moment, each is asked for it."""
    org_ids = [org.org_id for org in await orgs_of(call, None)]
    stored = await call.parts.jobs.spiders.org_of(org_ids, job_id)
    for org_id in [stored] if stored else org_ids:
        as_org = await acting(call, org_id)
        try:
            return as_org, await job_made(as_org, job_id)
        except Problem as problem:
            if problem.code != "not_found":
                raise
    raise not_found("spider job")


def refuse_expired(job: SpiderJob) -> None:
    """Raise the Problem of items, lines and statistics that were purged."""
    if job.expired_at:
        raise Problem(
            "results_expired",
            f"{PAST_RETENTION}: they were purged, and the job itself stays",
            details={"expiredAt": iso(job.expired_at)},
        )


async def page_of(call: Call, job: SpiderJob, start: int, limit: int) -> Items:
    """Return items of a job from an ordinal on, those that are stored by now; one chunk is in memory at a time."""
    rows: list[bytes] = []
    size = 0
    if start >= come_of(job).rows:
        return Items(rows, start)
    async with aclosing(chunks_of(call.parts.jobs.items, call.parts.blobs, job, start)) as chunks:
        async for chunk in chunks:
            for row in chunk:
                if len(rows) == limit or (rows and size + len(row) > MAX_PAGE_BYTES):
                    return Items(rows, start + len(rows))
                rows.append(row)
                size += len(row)
            if len(rows) == limit:
                break
    return Items(rows, start + len(rows))
