"""Submit module jobs, and go on from those that ended."""

from datetime import timedelta

from aiohttp import web
from msgspec import Struct
from msgspec.json import encode
from msgspec.structs import asdict, replace

from api import submission
from api.errors import Problem, not_found
from api.http import answer
from api.modules import answers
from api.modules.problems import PREFIX, refuse_params
from api.modules.reading import detail_of
from api.operation import Call, Operation
from api.parts import Parts
from api.refused import done, repeatable
from api.routes.jobs import job_id_of, ledger_position
from api.sealing import Sealing, former_digest_key, sealing_of
from schemas.private import private_bytes
from schemas.values import Vocabulary
from services.ledger.commands import NewJob, ResumeJob, SubmitJobs
from services.ledger.replies import Reply
from services.runtime.ids import uuid7
from services.runtime.logs import note
from services.runtime.shredding.codec import is_sealed
from services.workers.modules.enrich import EnrichParams
from services.workers.modules.protocol import Module
from services.workers.modules.scrap import ScrapParams
from services.workers.modules.sitemap import SitemapParams

USUAL = "scrap"  # what a job is whose type no path names
MAX_PARAMS_BYTES = 256 * 1024  # they are in the event that submits the job, and in each of its tasks


async def submit(call: Call) -> web.StreamResponse:
    """Record a module job and answer once the ledger has it; a repeat with the same key gets the same job.

    In the place of `job_id` stands the name of a module, which says what the body takes.
    """
    module = _module_of(call.parts, call.request)
    refuse_params(module.faults(call.body))
    private = private_bytes({"input": call.body})
    if len(private) > MAX_PARAMS_BYTES:
        raise _too_large(call.body)
    given = submission.given_key(call.request.headers)
    key = given or uuid7()
    sealing = await sealing_of(call.parts.keys, call.caller)
    job = NewJob(job_id=uuid7(), private=private)
    command = SubmitJobs(
        **call.asks(),
        jobs=((await sealing.sealed([job]))[job.job_id],),
        vocabulary=Vocabulary.MODULE,
        workflow_id=module.name,
        max_run_seconds=call.parts.settings.module_run_seconds,
        item_credits=module.item_credits,
        idempotency_digest=submission.key_digest(call.caller.org_id, key),
        request_digest=_digest(module, call.body, sealing.digest_key),
    )
    try:
        reply = await _asked(call, key, command)
    except Problem as problem:
        if problem.code != "idempotency_conflict":
            raise
        reply = await _made_before(call, key, module, command, problem)
    return await _made(call, key, command, reply, sealing, module.name)


async def submit_scrap(call: Call) -> web.StreamResponse:
    """Record a job of `scrap`: every query in every zone. As of any module, by its own path."""
    return await submit(call)


async def resume(call: Call) -> web.StreamResponse:
    """Record a job that goes on where an ended one stopped, with its params; one at a time for each job.

    It is the next of its chain, begins behind the last item that succeeded, and has the results up to there. The job
    that it goes on from stays as it is.
    """
    given = submission.given_key(call.request.headers)
    key = given or uuid7()
    stored = await call.parts.jobs.head(call.caller, job_id_of(call))
    row = stored or (await detail_of(call)).job
    if row.vocabulary != Vocabulary.MODULE:
        raise not_found("module job")
    sealing = await sealing_of(call.parts.keys, call.caller)
    job = NewJob(job_id=uuid7())
    if sealing.org_key or stored is None or is_sealed(stored.private):  # else the ledger takes those of the job itself
        job = replace(job, private=private_bytes({"input": row.input}))
    command = ResumeJob(
        **call.asks(),
        job_id=row.job_id,
        new=(await sealing.sealed([job]))[job.job_id],
        idempotency_digest=submission.key_digest(call.caller.org_id, f"resume\0{row.job_id}\0{key}"),
    )
    reply = await _asked(call, key, command)
    return await _made(call, key, command, reply, sealing, row.workflow_id, row.job_id)


async def _asked(call: Call, key: str, command: SubmitJobs | ResumeJob) -> Reply:
    with repeatable(key):
        reply = await call.parts.commander.ask(call.caller.partition, command)
    done(reply)
    return reply


async def _made_before(call: Call, key: str, module: Module, command: SubmitJobs, problem: Problem) -> Reply:
    """Return what was made under the key by the same body before the org's erasure was turned, or raise the problem."""
    remembered = timedelta(seconds=call.parts.settings.idempotency_seconds)
    former = await former_digest_key(call.parts.keys, call.caller, remembered)
    if former is None:
        raise problem
    again = replace(command, command_id=uuid7(), jobs=(), request_digest=_digest(module, call.body, former))
    return await _asked(call, key, again)


async def _made(
    call: Call,
    key: str,
    command: SubmitJobs | ResumeJob,
    reply: Reply,
    sealing: Sealing,
    job_type: str,
    source_job_id: str | None = None,
) -> web.Response:
    await sealing.tidy([command], [reply])
    body = done(reply)
    [job_id] = body.job_ids
    note(jobs=1, job_id=job_id)
    headers = {"Idempotency-Key": key, **ledger_position(reply), "Location": f"{PREFIX}/{job_id}"}
    if body.repeated:
        headers["Idempotency-Replayed"] = "true"
    said = answers.ModuleJobStatus(id=job_id, job_type=job_type, status="pending", source_job_id=source_job_id)
    return answer(200 if body.repeated else 201, said, headers)


def _too_large(params: Struct) -> Problem:
    sizes = {name: len(encode(value)) for name, value in asdict(params).items()}
    largest = max(sizes, key=sizes.__getitem__)
    message = (
        f"the params of a job take at most {MAX_PARAMS_BYTES} bytes, and this one is {sizes[largest]} of them: "
        "split the job into several"
    )
    return Problem("too_large", message, field=largest)


def _digest(module: Module, params: Struct, digest_key: bytes) -> bytes:
    return submission.request_digest({"module": module.name, "params": params}, digest_key)


def _module_of(parts: Parts, request: web.Request) -> Module:
    """Return the module that the path names, or raise the Problem that there is none."""
    name = request.match_info.get("job_id", USUAL)
    if name not in parts.modules:
        raise Problem("not_found", f"there is no such module: there are {', '.join(sorted(parts.modules))}")
    return parts.modules[name]


def _params_of(parts: Parts, request: web.Request) -> type[Struct]:
    return _module_of(parts, request).params


ERRORS = ("idempotency_conflict", "queue_full", "quota_exhausted", "too_large", "unusable_text", "ledger_unavailable")
OPERATIONS = (
    Operation(
        method="POST",
        path=PREFIX,
        summary="Submit a job of the module scrap",
        access="submit",
        handler=submit_scrap,
        body=ScrapParams,
        shape=_params_of,
        headers=("Idempotency-Key",),
        answers={201: answers.ModuleJobStatus, 200: answers.ModuleJobStatus},
        errors=ERRORS,
    ),
    Operation(
        method="POST",
        path=f"{PREFIX}/{{job_id}}",
        summary="Submit a job of a module, whose name stands in the place of job_id",
        access="submit",
        handler=submit,
        body=ScrapParams | SitemapParams | EnrichParams,
        shape=_params_of,
        headers=("Idempotency-Key",),
        answers={201: answers.ModuleJobStatus, 200: answers.ModuleJobStatus},
        errors=("not_found", *ERRORS),
    ),
    Operation(
        method="POST",
        path=f"{PREFIX}/{{job_id}}/resume",
        summary="Go on from a module job that ended, with another one",
        access="submit",
        handler=resume,
        headers=("Idempotency-Key",),
        answers={201: answers.ModuleJobStatus, 200: answers.ModuleJobStatus},
        errors=(
            "not_found",
            "not_terminal",
            "resume_pending",
            "chain_too_long",
            "results_expired",
            "queue_full",
            "quota_exhausted",
            "catching_up",
            "ledger_unavailable",
        ),
    ),
)
