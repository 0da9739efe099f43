"""Results: the scraped body of a completed job, and the extraction that the internal destination holds."""

import mimetypes
import re
from datetime import datetime

from aiohttp import web

from api import answers, requests
from api.errors import Problem, invalid, not_found
from api.http import answer
from api.modules.problems import PREFIX as MODULES
from api.operation import Call, Operation
from api.routes.jobs import job_id_of
from api.times import iso
from projections.postgres.rows import Job
from projections.postgres.views import Extraction
from schemas.values import Vocabulary
from services.runtime.errors import BlobMissing

RETRY_SECONDS = 1
MAX_OFFSET = 100_000  # of extractions passed over for a page: each is read
_CONTENT_TYPE = re.compile(r"[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+(;[\x20-\x7e]{0,200})?", re.ASCII)
# A scraped page is somebody else's: never run it, never guess what it is, never show it as part of this site.
SAFE = {"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'; sandbox"}


async def body(call: Call) -> web.StreamResponse:
    """Answer the scraped body of a completed job, as it was stored. Jobs of other vocabularies have items instead."""
    job_id = job_id_of(call)
    job = await call.parts.jobs.head(call.caller, job_id)
    if job is not None and job.vocabulary in (Vocabulary.MODULE, Vocabulary.SPIDER):
        await _refuse_expired(call, job_id, job.expired_at)
        raise _elsewhere(job, call.parts.settings.spider_prefix)
    if job is None or job.status != "completed" or job.result_ref is None:
        raise await _not_ready(call, job_id)
    await _refuse_expired(call, job_id, job.expired_at)
    try:
        data = await call.parts.blobs.get(job.result_ref)
    except BlobMissing:
        await _refuse_expired(call, job_id, None)  # it may have expired just now
        raise
    stored = job.content_type or ""
    content_type = stored if _CONTENT_TYPE.fullmatch(stored) else "application/octet-stream"
    extension = mimetypes.guess_extension(content_type.partition(";")[0].strip()) or ".bin"
    headers = {
        **SAFE,
        "Content-Type": content_type,
        "Content-Disposition": f'attachment; filename="{job_id}{extension}"',
    }
    return web.Response(body=data, headers=headers)


async def extraction(call: Call) -> web.StreamResponse:
    """Answer the extraction as soon as its row exists; before that, whether it is still to come."""
    job_id = job_id_of(call)
    if row := await call.parts.jobs.extraction(call.caller, job_id):
        return answer(200, _shown(row))
    status = (await call.parts.jobs.statuses(call.caller, [job_id])).get(job_id)
    if status == "extraction_done":
        waiting = answers.NotYet(job_id=job_id, status=status, retry_after_seconds=RETRY_SECONDS)
        return answer(202, waiting, {"Retry-After": str(RETRY_SECONDS)})
    if status is None:
        raise not_found("job")
    if row := await call.parts.jobs.extraction(call.caller, job_id):  # it came between the two looks
        return answer(200, _shown(row))
    await _refuse_expired(call, job_id, None)
    raise Problem("not_found", f"the job has no extraction: it is {status}", details={"status": status})


async def every(call: Call) -> web.StreamResponse:
    """Answer a page of the org's extractions, and how many jobs like these have theirs on its way."""
    query: requests.ListExtractions = call.query
    offset = (query.page - 1) * query.page_size
    if offset > MAX_OFFSET:
        raise invalid("page", f"the newest {MAX_OFFSET} extractions can be paged through: name a domain or a url")
    found = await call.parts.jobs.extractions(
        call.caller, domain=query.domain, url=query.url, limit=query.page_size, offset=offset
    )
    shown = answers.Extractions(
        extractions=[_shown(row) for row in found.rows],
        page=query.page,
        page_size=query.page_size,
        has_more=found.more,
        indexing_pending=found.pending,
        empty_reason="past retention" if found.past_retention else None,
    )
    return answer(200, shown)


async def _refuse_expired(call: Call, job_id: str, known: datetime | None) -> None:
    """Raise the Problem of results that were purged."""
    expired_at = known or await call.parts.jobs.expired_at(call.caller, job_id)
    if expired_at:
        message = "past retention: the results of the job were purged, and the job itself stays"
        raise Problem("results_expired", message, details={"expiredAt": iso(expired_at)})


def _elsewhere(job: Job, spider_prefix: str) -> Problem:
    """Return the Problem that results of this kind of job are read by other calls; those say what there is by now."""
    if job.vocabulary == Vocabulary.MODULE:
        items = f"{MODULES}/{job.job_id}/items"
        download = f"{MODULES}/{job.job_id}/download"
    else:
        items = f"{spider_prefix}/jobs/{job.job_id}/items"
        download = f"{items}/download"
    message = f"a {job.vocabulary} job has items, no single body: read {items}, or {download} once it has ended"
    return Problem("result_elsewhere", message, details={"items": items, "download": download})


async def _not_ready(call: Call, job_id: str) -> Problem:
    status = (await call.parts.jobs.statuses(call.caller, [job_id])).get(job_id)
    if status is None:
        return not_found("job")
    return Problem("not_ready", f"only a completed job has a result; this one is {status}", details={"status": status})


def _shown(row: Extraction) -> answers.ExtractionResult:
    return answers.ExtractionResult(
        id=str(row.id),
        org_id=row.org_id,
        job_id=row.job_id,
        domain=row.domain,
        schema_id=row.schema_id,
        data_type=row.data_type,
        normalized=row.normalized,
        raw_blob_key=row.raw_blob_key,
        quality_completeness=row.quality_completeness,
        quality_validation=row.quality_validation,
        quality_composite=row.quality_composite,
        latency_ms=row.latency_ms,
        delivered_at=iso(row.delivered_at),
        created_at=iso(row.created_at),
    )


OPERATIONS = (
    Operation(
        method="GET",
        path="/api/v1/jobs/{job_id}/result",
        summary="Read the scraped body of a completed job",
        access="read",
        handler=body,
        positioned=True,
        answers={200: None},
        errors=("not_found", "not_ready", "result_elsewhere", "results_expired", "catching_up", "store_unavailable"),
    ),
    Operation(
        method="GET",
        path="/api/v1/extraction/results/{job_id}",
        summary="Read the extraction of a job as soon as it is stored",
        access="read",
        handler=extraction,
        positioned=True,
        answers={200: answers.ExtractionResult, 202: answers.NotYet},
        errors=("not_found", "results_expired", "catching_up"),
    ),
    Operation(
        method="GET",
        path="/api/v1/extractions",
        summary="List extractions, newest first",
        access="read",
        handler=every,
        positioned=True,
        query=requests.ListExtractions,
        answers={200: answers.Extractions},
    ),
)
