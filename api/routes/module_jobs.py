"""Module jobs: read, page through their results, cancel, delete."""

import asyncio

import msgspec
from aiohttp import web

from api import submission
from api.config import orgs
from api.http import answer
from api.modules import answers, requests
from api.modules.problems import PREFIX
from api.modules.reading import detail_of, page_of, refuse_expired, row_of, stats_of
from api.modules.shown import job_public
from api.operation import Call, Operation
from api.refused import accepted, ended
from api.routes.jobs import DELETED_SECONDS, ledger_position
from projections.postgres.item_reading import come_of
from projections.postgres.rows import Job
from services.ledger.commands import CancelJob, DeleteJob
from services.ledger.status import TERMINAL, Status
from services.runtime.errors import BlobMissing


async def get(call: Call) -> web.StreamResponse:
    """Answer everything about a module job, from the first moment after it was accepted."""
    detail = await detail_of(call)
    row = detail.job
    stats, links, kept = await asyncio.gather(
        stats_of(call.parts.blobs, row),
        call.parts.jobs.items.links(row.org_id, come_of(row).chain_id),
        _kept_seconds(call),
    )
    place = {"Ledger-Position": f"{row.partition}:{row.position}"}
    return answer(200, job_public(detail, stats, links=links, kept_seconds=kept), place)


async def items(call: Call) -> web.StreamResponse:
    """Answer results of a job in their order, also while it runs; 410 once they were purged."""
    query: requests.ListItems = call.query
    row = await row_of(call)
    refuse_expired(row)
    try:
        rows = await page_of(call, row, query.offset, query.limit)
    except BlobMissing:
        refuse_expired(await row_of(call))  # it may have expired just now
        raise
    page = answers.ModuleItems(
        items=[msgspec.Raw(row) for row in rows], offset=query.offset, limit=query.limit, total=come_of(row).rows
    )
    return answer(200, page)


async def cancel(call: Call) -> web.StreamResponse:
    """Cancel a job that has not ended; its results so far stay. A repeat with the same key gets the same answer."""
    row, key = await row_of(call), submission.given_key(call.request.headers)
    if row.status in TERMINAL and not (key and row.status == Status.CANCELLED):  # the ledger knows by which call it was
        raise ended(row.status)
    asks = call.asks()
    if key:
        asks["correlation_id"] = submission.cancellation(call.caller.org_id, row.job_id, key)
    reply = await call.parts.commander.ask(call.caller.partition, CancelJob(job_id=row.job_id, **asks))
    accepted(reply)
    return answer(202, _status(row, "cancelled"), ledger_position(reply))


async def delete(call: Call) -> web.StreamResponse:
    """Delete a job for good, its results too where no later job of its chain has them; cancelled first if it runs."""
    row = await row_of(call)
    reply = await call.parts.commander.ask(call.caller.partition, DeleteJob(job_id=row.job_id, **call.asks()))
    accepted(reply)
    gone = await call.parts.jobs.reached(reply.partition, reply.position, DELETED_SECONDS)
    said = answers.ModuleJobDeleted(id=row.job_id, deleted=gone)
    return answer(200 if gone else 202, said, ledger_position(reply))


def _status(row: Job, status: str) -> answers.ModuleJobStatus:
    source = come_of(row).source_job_id or None
    return answers.ModuleJobStatus(id=row.job_id, job_type=row.workflow_id, status=status, source_job_id=source)


async def _kept_seconds(call: Call) -> int:
    """Return for how long the results of the org's module jobs are kept; 0: for ever."""
    org = await orgs.find(call.parts.pool, call.caller.org_id)
    return (org.retention_seconds if org else 0) or call.parts.settings.module_retention_seconds


OPERATIONS = (
    Operation(
        method="GET",
        path=f"{PREFIX}/{{job_id}}",
        summary="Read a module job",
        access="read",
        handler=get,
        positioned=True,
        answers={200: answers.JobPublic},
        errors=("not_found", "catching_up"),
    ),
    Operation(
        method="GET",
        path=f"{PREFIX}/{{job_id}}/items",
        summary="Page through the results of a module job, also while it runs",
        access="read",
        handler=items,
        positioned=True,
        query=requests.ListItems,
        answers={200: answers.ModuleItems},
        errors=("not_found", "results_expired", "catching_up", "store_unavailable"),
    ),
    Operation(
        method="POST",
        path=f"{PREFIX}/{{job_id}}/cancel",
        summary="Cancel a module job; its results so far stay",
        headers=("Idempotency-Key",),
        access="submit",
        handler=cancel,
        answers={202: answers.ModuleJobStatus},
        errors=("not_found", "job_terminal", "catching_up", "ledger_unavailable"),
    ),
    Operation(
        method="DELETE",
        path=f"{PREFIX}/{{job_id}}",
        summary="Delete a module job for good; one that has not ended is cancelled first",
        access="submit",
        handler=delete,
        answers={200: answers.ModuleJobDeleted, 202: answers.ModuleJobDeleted},
        errors=("not_found", "catching_up", "ledger_unavailable"),
    ),
)
