"""Submit spider jobs."""

from aiohttp import web
from msgspec.structs import replace

from api import submission
from api.config import project_destinations
from api.http import answer
from api.operation import Call, Operation
from api.refused import done, repeatable
from api.routes.jobs import ledger_position
from api.sealing import sealing_of
from api.spiders import job_answers
from api.spiders.frame import PREFIX, acting
from api.spiders.job_reading import job_made
from api.spiders.job_requests import SubmitSpiders
from api.spiders.job_shown import job_shown
from api.spiders.scheduled import pinned
from api.spiders.submission import new_job, run_options, submission_of
from api.spiders.there import deploy_of
from services.runtime.ids import uuid7
from services.runtime.logs import note


async def submit(call: Call) -> web.StreamResponse:
    """Record a run of one spider, or of several as one grouped job; a repeat with the same key gets the same job.

    The version of the project is looked up now, and the job has it for life, with its options and destinations.
    """
    body: SubmitSpiders = call.body
    call = await acting(call, body.org)
    org_id = call.caller.org_id
    deploy = await deploy_of(call.parts.pool, org_id, body.project, pinned(body))
    options = run_options(body, deploy)
    given = submission.given_key(call.request.headers)
    key = given or uuid7()
    sealing = await sealing_of(call.parts.keys, call.caller)
    job = new_job(uuid7(), options)
    command = submission_of(
        call.asks(),
        (await sealing.sealed([job]))[job.job_id],
        options,
        deploy,
        await project_destinations.enabled(call.parts.pool, org_id, body.project),
        idempotency_digest=submission.key_digest(org_id, f"spider\0{key}"),
        request_digest=submission.request_digest(replace(body, org=org_id), sealing.digest_key),
    )
    with repeatable(key):
        reply = await call.parts.commander.ask(call.caller.partition, command)
    made = done(reply)
    await sealing.tidy([command], [reply])
    [job_id] = made.job_ids
    note(jobs=1, job_id=job_id)
    headers = {"Idempotency-Key": key, **ledger_position(reply), "Location": f"{call.request.path}/{job_id}"}
    if made.repeated:
        headers["Idempotency-Replayed"] = "true"
    return answer(200 if made.repeated else 201, job_shown(await job_made(call, job_id)), headers)


OPERATIONS = (
    Operation(
        method="POST",
        path=f"{PREFIX}/jobs",
        summary="Run spiders of a project",
        access="submit",
        operator_too=True,
        handler=submit,
        body=SubmitSpiders,
        headers=("Idempotency-Key",),
        answers={201: job_answers.SpiderJob, 200: job_answers.SpiderJob},
        errors=(
            "not_found",
            "idempotency_conflict",
            "queue_full",
            "quota_exhausted",
            "too_large",
            "unusable_text",
            "catching_up",
            "ledger_unavailable",
        ),
    ),
)
