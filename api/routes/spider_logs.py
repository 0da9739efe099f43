"""The log of a spider job: its newest lines, those that match, or all of it as a file."""

from contextlib import aclosing

from aiohttp import web

from api.errors import invalid
from api.exports.gzipped import gzipped
from api.exports.sending import sent
from api.http import answer, without_deadline
from api.operation import Call, Operation
from api.spiders import job_answers
from api.spiders.frame import PREFIX
from api.spiders.job_reading import job_made, job_of, refuse_expired
from api.spiders.job_requests import ReadLogs
from api.spiders.log_lines import Wanted, rank
from api.spiders.log_notes import shown
from api.spiders.log_reading import Found, newest, whole
from api.spiders.requests import OfOrg
from services.runtime.errors import BlobMissing
from services.workers.spiders.frames import LEVELS


async def logs(call: Call) -> web.StreamResponse:
    """Answer the newest lines of a log, oldest first; those of a level or above, or with a text, out of all of it."""
    query: ReadLogs = call.query
    wanted = _wanted(query)
    call, job = await job_of(call, query.org)
    found = Found([])
    if not job.expired_at:
        try:
            found = await newest(call.parts.jobs.items, call.parts.blobs, job, wanted, query.lines)
        except BlobMissing:
            job = await job_made(call, job.job_id)
            if not job.expired_at:
                raise
    return answer(200, shown(job, found, wanted))


async def download(call: Call) -> web.StreamResponse:
    """Send the whole log, as far as it is stored, as text packed by gzip; 410 once it is past retention."""
    query: OfOrg = call.query
    call, job = await job_of(call, query.org)
    refuse_expired(job)
    headers = {
        "Content-Type": "application/gzip",
        "Content-Disposition": f'attachment; filename="{job.workflow_id}-{job.job_id}.log.gz"',
        "X-Content-Type-Options": "nosniff",
        "Accept-Ranges": "none",
    }
    lines = whole(call.parts.jobs.items, call.parts.blobs, job)
    try:
        async with aclosing(lines), aclosing(gzipped(lines)) as parts:
            return await sent(call.request, headers | without_deadline(), parts)
    except BlobMissing:
        refuse_expired(await job_made(call, job.job_id))  # it may have expired just now
        raise


def _wanted(query: ReadLogs) -> Wanted:
    level = rank(query.level) if query.level else 0
    if level is None:
        raise invalid("level", f"there are {', '.join(LEVELS)}: lines of that level or above are meant")
    return Wanted(level, query.contains)


OPERATIONS = (
    Operation(
        method="GET",
        path=f"{PREFIX}/jobs/{{job_id}}/logs",
        summary="Read or search the log of a spider job, also while it runs",
        access="read",
        operator_too=True,
        handler=logs,
        positioned=True,
        query=ReadLogs,
        answers={200: job_answers.SpiderLog},
        errors=("not_found", "catching_up", "store_unavailable"),
    ),
    Operation(
        method="GET",
        path=f"{PREFIX}/jobs/{{job_id}}/logs/download",
        summary="Download the log of a spider job",
        access="read",
        operator_too=True,
        handler=download,
        positioned=True,
        query=OfOrg,
        media_type="application/gzip",
        answers={200: None},
        errors=("not_found", "results_expired", "catching_up", "store_unavailable"),
    ),
)
