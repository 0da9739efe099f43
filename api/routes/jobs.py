"""Jobs: read, list, ask for many, cancel, hurry, delete."""

import re
from contextlib import suppress
from datetime import datetime

from aiohttp import web

from api import answers, history_answers, requests, shown, submission
from api.errors import invalid, not_found
from api.etags import seen_already
from api.history import Instant
from api.http import answer
from api.operation import Call, Operation
from api.present import present
from api.refused import accepted, ended
from projections.postgres.views import Cursor, Filters
from services.ledger.commands import CancelJob, DeleteJob, RetryNow
from services.ledger.replies import Reply
from services.ledger.status import TERMINAL, Status
from services.runtime.ids import is_uuid

_PLACE = re.compile(r"(\d{1,9}):(\d{1,18})", re.ASCII)
DELETED_SECONDS = 5.0  # how long a deletion is waited for, so that nobody sees the job any more


async def get(call: Call) -> web.StreamResponse:
    """Answer everything about a job, from the first moment after it was accepted; with `at`, as it stood then."""
    if call.query.at:
        detail = await call.parts.history.job_at(call.caller, job_id_of(call), instant_of(call.query.at))
    else:
        detail = await call.parts.jobs.find(call.caller, job_id_of(call))
    if detail is None:
        raise not_found("job then" if call.query.at else "job")
    place = f"{detail.job.partition}:{detail.job.position}"
    headers = {"Ledger-Position": place, "ETag": f'W/"{place}"', "Cache-Control": "private, no-cache"}
    if seen_already(call.request, headers["ETag"]):
        return web.Response(status=304, headers=headers)
    return answer(200, shown.job(detail), headers)


async def events(call: Call) -> web.StreamResponse:
    """Answer the events of a job as they stand in the log, each with its place in the org's hash chain."""
    job_id = job_id_of(call)
    found = await call.parts.history.events(call.caller, job_id, after=call.query.after, limit=call.query.limit)
    if found is None:
        raise not_found("job")
    entries, more = found
    listed = [shown.event(entry) for entry in entries]
    following = listed[-1].seq if more else None
    return answer(200, history_answers.Events(job_id=job_id, events=listed, next_after=following))


async def page(call: Call) -> web.StreamResponse:
    """Answer a page of the org's jobs that meet every filter, newest first unless the oldest are asked for first."""
    query: requests.ListJobs = call.query
    oldest_first = query.order == "oldest"
    filters = Filters(
        statuses=query.status,
        workflow_id=query.workflow_id,
        domain=query.domain,
        schedule_id=query.schedule_id,
        error_type=query.error_type,
        submitted_after=query.created_after,
        submitted_before=query.created_before,
    )
    found = await call.parts.jobs.page(
        call.caller, filters, after=_place_of(query.cursor, oldest_first), limit=query.limit, oldest_first=oldest_first
    )
    following = found.next.encode() if found.next else None
    return answer(200, answers.Jobs(jobs=[shown.summary(row) for row in found.jobs], next_cursor=following))


def _place_of(text: str | None, oldest_first: bool) -> Cursor | None:
    if text is None:
        return None
    place: Cursor | None = None
    with suppress(ValueError):
        place = Cursor.decode(text)
    if place is None or not is_uuid(place.job_id) or place.encode() != text:
        raise invalid("cursor", "not a cursor of this API: pass `nextCursor` of the page before, unchanged")
    if place.oldest_first != oldest_first:
        raise invalid("cursor", "a cursor of the other direction: pass it with the `order` of the page before")
    return place


async def batch_status(call: Call) -> web.StreamResponse:
    """Answer where many jobs stand."""
    asked = list(dict.fromkeys(call.body.job_ids))
    found = await call.parts.jobs.statuses(call.caller, [job_id for job_id in asked if is_uuid(job_id)])
    jobs = [answers.JobStatus(job_id=job_id, status=found[job_id]) for job_id in asked if job_id in found]
    return answer(200, answers.Statuses(jobs=jobs, unknown=[job_id for job_id in asked if job_id not in found]))


async def cancel(call: Call) -> web.StreamResponse:
    """Cancel a job that has not ended; a repeat with the same key gets the same answer."""
    job_id, key = job_id_of(call), submission.given_key(call.request.headers)
    status = (await call.parts.jobs.statuses(call.caller, [job_id])).get(job_id)
    if status is None:
        raise not_found("job")
    if status in TERMINAL and not (key and status == Status.CANCELLED):  # the ledger knows by which call it was
        raise ended(status)
    asks = call.asks()
    if key:
        asks["correlation_id"] = submission.cancellation(call.caller.org_id, job_id, key)
    command = CancelJob(job_id=job_id, **asks)
    reply = await call.parts.commander.ask(call.caller.partition, command)
    accepted(reply)
    return answer(202, answers.Cancelled(job_id=job_id, accepted=True), ledger_position(reply))


async def retry_now(call: Call) -> web.StreamResponse:
    """Let a job that waits for a retry take the next free slot of its org: this wait ends, and no later one."""
    job_id = job_id_of(call)
    status = (await call.parts.jobs.statuses(call.caller, [job_id])).get(job_id)
    if status is None:
        raise not_found("job")
    if status in TERMINAL:
        raise ended(status)
    now = await present(call, job_id)
    command = RetryNow(job_id=job_id, attempt=now.attempt if now.status == Status.WAITING_RETRY else 0, **call.asks())
    reply = await call.parts.commander.ask(call.caller.partition, command)
    accepted(reply)
    return answer(202, answers.Hastened(job_id=job_id, accepted=True), ledger_position(reply))


async def delete(call: Call) -> web.StreamResponse:
    """Delete a job for good; one that has not ended is cancelled first."""
    job_id = job_id_of(call)
    if job_id not in await call.parts.jobs.statuses(call.caller, [job_id]):
        raise not_found("job")
    command = DeleteJob(job_id=job_id, **call.asks())
    reply = await call.parts.commander.ask(call.caller.partition, command)
    accepted(reply)
    gone = await call.parts.jobs.reached(reply.partition, reply.position, DELETED_SECONDS)
    return answer(200 if gone else 202, answers.Deleted(job_id=job_id, deleted=gone), ledger_position(reply))


def job_id_of(call: Call) -> str:
    """Return the job id in the path; what has not the form of one is no job."""
    job_id = call.request.match_info["job_id"].lower()
    if not is_uuid(job_id):
        raise not_found("job")
    return job_id


def instant_of(text: str) -> Instant:
    """Return what `at` says, or raise the Problem that names it."""
    if place := _PLACE.fullmatch(text):
        return Instant(partition=int(place[1]), position=int(place[2]))
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        at = None
    if at is None or at.tzinfo is None:
        raise invalid("at", "takes a time with its zone, 2026-01-31T12:00:00Z, or partition:position, 3:4711")
    return Instant(at=at)


def ledger_position(reply: Reply) -> dict[str, str]:
    """Return the header that names a position at which a reader sees what was just done."""
    return {"Ledger-Position": f"{reply.partition}:{reply.position}"}


OPERATIONS = (
    Operation(
        method="GET",
        path="/api/v1/jobs",
        summary="List jobs, narrowed by what they are",
        access="read",
        handler=page,
        positioned=True,
        query=requests.ListJobs,
        answers={200: answers.Jobs},
    ),
    Operation(
        method="POST",
        path="/api/v1/jobs/batch-status",
        summary="Ask where many jobs stand",
        access="read",
        handler=batch_status,
        positioned=True,
        body=requests.BatchStatus,
        answers={200: answers.Statuses},
        errors=("catching_up",),
    ),
    Operation(
        method="GET",
        path="/api/v1/jobs/{job_id}",
        summary="Read a job with its trace, transitions and gate",
        access="read",
        handler=get,
        positioned=True,
        query=requests.ReadJob,
        headers=("If-None-Match",),
        answers={200: answers.Job, 304: None},
        errors=("not_found", "catching_up", "ledger_unavailable"),
    ),
    Operation(
        method="GET",
        path="/api/v1/jobs/{job_id}/events",
        summary="Read the events of a job as they stand in the log",
        access="read",
        handler=events,
        positioned=True,
        query=requests.ListEvents,
        answers={200: history_answers.Events},
        errors=("not_found", "catching_up", "ledger_unavailable"),
    ),
    Operation(
        method="DELETE",
        path="/api/v1/jobs/{job_id}",
        summary="Delete a job for good; one that has not ended is cancelled first",
        access="submit",
        handler=delete,
        answers={200: answers.Deleted, 202: answers.Deleted},
        errors=("not_found", "catching_up", "ledger_unavailable"),
    ),
    Operation(
        method="POST",
        path="/api/v1/jobs/{job_id}/cancel",
        summary="Cancel a job",
        headers=("Idempotency-Key",),
        access="submit",
        handler=cancel,
        answers={202: answers.Cancelled},
        errors=("not_found", "job_terminal", "catching_up", "ledger_unavailable"),
    ),
    Operation(
        method="POST",
        path="/api/v1/jobs/{job_id}/retry-now",
        summary="Do not wait for the retry of a job any longer",
        access="submit",
        handler=retry_now,
        answers={202: answers.Hastened},
        errors=("not_found", "not_waiting", "job_terminal", "ledger_unavailable"),
    ),
)
