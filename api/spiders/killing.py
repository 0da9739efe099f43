"""Kills what is queued of a project that is being deleted: each job leaves the queue, and its record stays."""

import asyncio

from api.errors import Problem
from api.operation import Call
from projections.postgres.views import Cursor, Filters
from schemas.values import Vocabulary
from services.ledger.commands import CancelJob, Probe
from services.ledger.replies import Refused
from services.ledger.status import Status

REASON = "project_deleted"
PAGE = 500
ASKED_AT_ONCE = 50
FOLD_SECONDS = 5.0  # that the read model may take to see all that the ledger has


async def kill_queued(call: Call, project: str) -> int:
    """Cancel every job of a project that is queued now, of which nothing is submitted any more; return how many were.

    Raises the Problem that the read model is behind, and it cannot be told which these are.
    """
    now = await call.parts.commander.ask(call.caller.partition, Probe(**call.asks()))
    if not await call.parts.jobs.reached(now.partition, now.position, FOLD_SECONDS):
        raise Problem("catching_up", "it cannot be told yet which jobs are queued: repeat the deletion")
    killed, after, more = 0, None, True
    while more:
        jobs, after = await _queued(call, project, after)
        for first in range(0, len(jobs), ASKED_AT_ONCE):
            some = jobs[first : first + ASKED_AT_ONCE]
            killed += sum(await asyncio.gather(*(_kill(call, job_id) for job_id in some)))
        more = after is not None
    return killed


async def _queued(call: Call, project: str, after: Cursor | None) -> tuple[list[str], Cursor | None]:
    filters = Filters(statuses=(Status.PENDING, Status.WAITING_RETRY), workflow_id=project)
    page = await call.parts.jobs.page(call.caller, filters, after=after, limit=PAGE, oldest_first=False)
    # A workflow may be called as the project is.
    return [row.job_id for row in page.jobs if row.vocabulary == Vocabulary.SPIDER], page.next


async def _kill(call: Call, job_id: str) -> bool:
    """Cancel a job; one that has ended meanwhile is none to be killed."""
    reply = await call.parts.commander.ask(
        call.caller.partition, CancelJob(job_id=job_id, reason=REASON, **call.asks())
    )
    return not isinstance(reply.body, Refused)
