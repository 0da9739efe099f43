"""Spider jobs: list, read, cancel."""

from contextlib import suppress

from aiohttp import web

from api import submission
from api.errors import invalid
from api.http import answer
from api.operation import Call, Operation
from api.refused import accepted, ended
from api.routes.jobs import ledger_position
from api.spiders import job_answers
from api.spiders.frame import PREFIX, acting
from api.spiders.job_reading import job_of
from api.spiders.job_requests import ListSpiderJobs
from api.spiders.job_shown import job_line, job_shown
from api.spiders.late import late_report
from api.spiders.requests import OfOrg
from projections.postgres.spider_views import SpiderFilters
from projections.postgres.views import Cursor
from services.ledger.commands import CancelJob
from services.ledger.status import TERMINAL, Status
from services.runtime.ids import is_uuid

KILLED = "killed"


async def page(call: Call) -> web.StreamResponse:
    """Answer spider jobs of an org, newest first; the order is that of their submission, so pages never overlap."""
    query: ListSpiderJobs = call.query
    call = await acting(call, query.org)
    filters = SpiderFilters(project=query.project, states=query.state)
    found, following = await call.parts.jobs.spiders.page(
        call.caller.org_id, filters, after=_place_of(query.cursor), limit=query.limit
    )
    jobs = [job_line(job) for job in found]
    return answer(200, job_answers.SpiderJobs(jobs=jobs, next_cursor=following.encode() if following else None))


async def get(call: Call) -> web.StreamResponse:
    """Answer everything about a spider job, from the first moment after it was accepted."""
    as_org, job = await job_of(call, call.query.org)
    shown = job_shown(job, await late_report(as_org, job))
    return answer(200, shown, {"Ledger-Position": f"{job.partition}:{job.position}"})


async def cancel(call: Call) -> web.StreamResponse:
    """Stop a job that has not ended: one in the queue leaves it, one that runs is told to stop; both stay on record.

    Items, log and statistics so far stay. A repeat with the same key gets the same answer.
    """
    as_org, job = await job_of(call, call.query.org)
    key = submission.given_key(call.request.headers)
    if job.status in TERMINAL and not (key and job.status == Status.CANCELLED):  # the ledger knows by which call it was
        raise ended(job.status)
    asks = as_org.asks()
    if key:
        asks["correlation_id"] = submission.cancellation(job.org_id, job.job_id, key)
    reply = await call.parts.commander.ask(as_org.caller.partition, CancelJob(job_id=job.job_id, **asks))
    accepted(reply)
    return answer(202, job_answers.SpiderJobStatus(key=job.job_id, state=KILLED), ledger_position(reply))


def _place_of(text: str | None) -> Cursor | None:
    if text is None:
        return None
    with suppress(ValueError):
        place = Cursor.decode(text)
        if is_uuid(place.job_id) and place.encode() == text and not place.oldest_first:
            return place
    raise invalid("cursor", "not a cursor of this list: pass `next_cursor` of the page before, unchanged")


OPERATIONS = (
    Operation(
        method="GET",
        path=f"{PREFIX}/jobs",
        summary="List spider jobs",
        access="read",
        operator_too=True,
        handler=page,
        positioned=True,
        query=ListSpiderJobs,
        answers={200: job_answers.SpiderJobs},
        errors=("not_found",),
    ),
    Operation(
        method="GET",
        path=f"{PREFIX}/jobs/{{job_id}}",
        summary="Read a spider job",
        access="read",
        operator_too=True,
        handler=get,
        positioned=True,
        query=OfOrg,
        answers={200: job_answers.SpiderJob},
        errors=("not_found", "catching_up"),
    ),
    Operation(
        method="POST",
        path=f"{PREFIX}/jobs/{{job_id}}/cancel",
        summary="Stop a spider job; its items so far stay",
        access="submit",
        operator_too=True,
        handler=cancel,
        query=OfOrg,
        headers=("Idempotency-Key",),
        answers={202: job_answers.SpiderJobStatus},
        errors=("not_found", "job_terminal", "catching_up", "ledger_unavailable"),
    ),
)
