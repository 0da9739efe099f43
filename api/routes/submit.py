"""Submit: one job or many, recorded once however often the request is repeated."""

import asyncio
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

from aiohttp import web

from api import answers, requests, submission
from api.config import destinations
from api.errors import Problem
from api.http import answer
from api.operation import Call, Operation
from api.refused import done, repeatable
from api.routes.jobs import ledger_position
from api.routing import workflows_for
from api.sealing import former_digest_key, sealing_of
from services.ledger.commands import NewJob, SubmitJobs
from services.ledger.replies import Reply
from services.runtime import tracing
from services.runtime.ids import uuid7
from services.runtime.logs import note
from services.runtime.settings import Settings

MAX_SUBMIT_BYTES = 16 * 1024 * 1024  # 10,000 long urls


async def submit(call: Call) -> web.StreamResponse:
    """Record the jobs and answer once the ledger has them; a repeat with the same key gets the same jobs."""
    began = tracing.clock()
    key = submission.given_key(call.request.headers) or uuid7()
    jobs = submission.new_jobs(call.body, allowed=call.parts.settings.allowed_networks)
    pool, org_id = call.parts.pool, call.caller.org_id
    sealing = await sealing_of(call.parts.keys, call.caller)
    body_digest = submission.request_digest(call.body, sealing.digest_key)
    try:
        chosen, places = await asyncio.gather(
            workflows_for(pool, org_id, call.body.workflow_id, submission.hosts_of(call.body, jobs)),
            destinations.enabled(pool, org_id),
        )
    except Problem as problem:
        if "Idempotency-Key" not in call.request.headers:
            raise
        return await _known(call, key, jobs, body_digest, problem)
    workflow = chosen[0]
    pinned = submission.pinned(jobs, chosen)
    sealed = await sealing.sealed(pinned)
    commands = [
        SubmitJobs(
            **call.asks(),
            jobs=tuple(sealed[job.job_id] for job in part.jobs),
            workflow_id=workflow.workflow_id,
            workflow_version=workflow.version,
            workflow_ref=workflow.ref,
            destinations=places,
            priority=call.body.priority,
            max_queue_seconds=call.body.max_queue_seconds,
            jobs_behind=part.jobs_behind,
            first_digest=part.first_digest,
            idempotency_digest=part.idempotency_digest,
            request_digest=body_digest,
        )
        for part in submission.parts(pinned, submission.key_digest(org_id, key))
    ]
    try:
        replies = await _asked(call, key, commands)
    except Problem as problem:
        if problem.code != "idempotency_conflict":
            raise
        return await _known(call, key, jobs, None, problem)  # of the digest of today the ledger has just told
    await sealing.tidy(commands, replies)
    _trace(call, replies, began)
    return _submitted(call, key, replies)


async def _known(
    call: Call, key: str, jobs: list[NewJob], digest: bytes | None, problem: Problem
) -> web.StreamResponse:
    """Answer a repeat that cannot be taken as it is: the jobs made under the key by the same body, or else the problem.

    Its workflow may not be published any more; or the org's erasure was turned, and digests are made otherwise now.
    """
    remembered = timedelta(seconds=call.parts.settings.idempotency_seconds)
    former = await former_digest_key(call.parts.keys, call.caller, remembered)
    of_former = None if former is None else submission.request_digest(call.body, former)
    for each in filter(None, (digest, of_former)):
        try:
            replies = await _made(call, key, jobs, each)
        except Problem as refused:
            if refused.code != "idempotency_conflict":
                raise
            problem = refused
        else:
            if all(done(reply).job_ids for reply in replies):
                return _submitted(call, key, replies)
            break
    raise problem


async def _made(call: Call, key: str, jobs: list[NewJob], digest: bytes) -> list[Reply]:
    """Return what is known of a key and a body, by commands without jobs: they record nothing."""
    parts = submission.parts(jobs, submission.key_digest(call.caller.org_id, key))
    commands = [
        SubmitJobs(**call.asks(), jobs=(), idempotency_digest=part.idempotency_digest, request_digest=digest)
        for part in parts
    ]
    return await _asked(call, key, commands)


async def _asked(call: Call, key: str, commands: list[SubmitJobs]) -> list[Reply]:
    with repeatable(key):
        first = await call.parts.commander.ask(call.caller.partition, commands[0])
        done(first)  # another body under this key meets the first part: nothing else is sent then
        rest = await asyncio.gather(*(call.parts.commander.ask(call.caller.partition, part) for part in commands[1:]))
    return [first, *rest]


def _trace(call: Call, replies: list[Reply], began: int) -> None:
    """Tell of the submission of each job, with a link to the caller's trace where it named one."""
    if not tracing.on():
        return
    ended = tracing.clock()
    for job_id in (job_id for reply in replies if not done(reply).repeated for job_id in done(reply).job_ids):
        told: dict[str, tracing.Attribute] = {
            "org_id": call.caller.org_id,
            "request_id": call.request_id,
            "partition": call.caller.partition,
        }
        tracing.span(tracing.Span(job_id, "submit", "", began, ended, told, caller=call.traceparent))


def _submitted(call: Call, key: str, replies: list[Reply]) -> web.Response:
    made = [done(reply) for reply in replies]
    jobs = [answers.JobStatus(job_id=job_id, status="pending") for body in made for job_id in body.job_ids]
    note(jobs=len(jobs), **({"job_id": jobs[0].job_id} if len(jobs) == 1 else {}))
    repeated = all(body.repeated for body in made)
    headers = {"Idempotency-Key": key, **ledger_position(max(replies, key=lambda reply: reply.position))}
    if repeated:
        headers["Idempotency-Replayed"] = "true"
    status = 200 if repeated else 201
    if call.body.url is None:
        return answer(status, answers.SubmittedJobs(jobs=jobs), headers)
    return answer(status, jobs[0], {**headers, "Location": f"/api/v1/jobs/{jobs[0].job_id}"})


def _faults(settings: Settings, given: Mapping[str, Any]) -> Iterator[Problem]:
    return submission.url_faults(given, allowed=settings.allowed_networks)


OPERATIONS = (
    Operation(
        method="POST",
        path="/api/v1/jobs",
        summary="Submit one job or many",
        access="submit",
        handler=submit,
        body=requests.SubmitJobs,
        faults=_faults,
        headers=("Idempotency-Key",),
        max_body_bytes=MAX_SUBMIT_BYTES,
        answers={201: answers.JobStatus | answers.SubmittedJobs, 200: answers.JobStatus | answers.SubmittedJobs},
        errors=(
            "idempotency_conflict",
            "no_route",
            "queue_full",
            "quota_exhausted",
            "too_large",
            "unknown_workflow",
            "unusable_text",
            "ledger_unavailable",
        ),
    ),
)
