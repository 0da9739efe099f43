"""What module jobs add to a legal stream of recorded events: plans, chunks of items, lines, and jobs that go on."""

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from schemas.events import ItemsPlanned, ItemsRecorded, JobContinued, JobLogged, JobSubmitted
from schemas.item_events import Adopted
from schemas.values import Vocabulary

if TYPE_CHECKING:
    from tests.event_streams import Play, Stream

PLANNED = 1_000
ROWS_BYTES, OUTCOMES_BYTES, STATS_BYTES = 100, 20, 3


@dataclass
class Come:
    """How far a module job of the stream has come."""

    chain_id: str
    link: int = 1
    links: int = 1  # of its chain, as its first job counts them
    adopts: tuple[Adopted, ...] = ()
    plan_ref: str = ""
    chunks: int = 0
    next_item: int = 0
    rows: int = 0
    errors: int = 0
    result_bytes: int = 0
    resume_item: int = 0
    errors_before: int = 0
    logged: int = 0
    digest: bytes = b""
    newest_ref: str = ""


def submit_module(stream: "Stream", job: "Play", number: int) -> None:
    """Submit a module job, which has no destinations."""
    job.destinations, job.cost, job.come = (), 0, Come(job.job_id)
    private = b'\0{"input":{"queries":["q%d"],"zones":["here"]}}' % number
    metered = int(job.org_id == stream.orgs[0])
    stream.of(
        job,
        JobSubmitted(
            vocabulary=Vocabulary.MODULE,
            workflow_id="scrap",
            max_run_seconds=86_400,
            item_credits=metered,
            private=private,
        ),
    )


def work(stream: "Stream", job: "Play", number: int) -> None:
    """Let a worker plan, record a chunk whose tail errors now and then, or say something."""
    come = job.come
    assert come is not None
    if not come.plan_ref:
        come.plan_ref = f"plans/{come.chain_id}"
        stream.of(job, ItemsPlanned(plan_ref=come.plan_ref, planned=PLANNED, plan_bytes=50))
    elif number == 2:
        lines = b'\0{"lines":[{"level":"info","message":"at \\u0000 %d","timestamp":"2026-01-01T00:00:00Z"}]}'
        stream.of(job, JobLogged(number=come.logged, lines=1, private=lines % come.next_item))
        come.logged += 1
    elif come.next_item + number <= PLANNED:
        _record(stream, job, come, number)


def finish(stream: "Stream", job: "Play") -> None:
    """Let a worker do all that is left."""
    if job.come and not job.come.plan_ref:
        work(stream, job, 3)
    if job.come and job.come.next_item < PLANNED:
        _record(stream, job, job.come, PLANNED - job.come.next_item)


def _record(stream: "Stream", job: "Play", come: Come, number: int) -> None:
    errors = number % 3
    succeeded = number - errors
    if succeeded:
        come.resume_item, come.errors_before = come.next_item + succeeded, come.errors
    digest = hashlib.blake2b(f"{job.job_id}/{come.chunks}".encode(), digest_size=16).digest()
    surcharge = succeeded * (job.org_id == stream.orgs[0])
    stream.of(
        job,
        ItemsRecorded(
            chunk=come.chunks,
            items_ref=f"items/{job.job_id}/{come.chunks}",
            rows_bytes=ROWS_BYTES,
            outcomes_bytes=OUTCOMES_BYTES,
            stats_bytes=STATS_BYTES,
            digest=digest,
            first_item=come.next_item,
            next_item=come.next_item + number,
            first_row=come.rows,
            rows=succeeded,
            errors=errors,
            resume_item=come.resume_item,
            errors_before=come.errors_before,
            surcharge=surcharge,
        ),
    )
    come.newest_ref = f"items/{job.job_id}/{come.chunks}"
    come.digest = hashlib.blake2b(come.digest + digest, digest_size=16).digest()
    come.chunks, come.next_item = come.chunks + 1, come.next_item + number
    come.rows, come.errors = come.rows + succeeded, come.errors + errors
    come.result_bytes += ROWS_BYTES + OUTCOMES_BYTES + STATS_BYTES


def go_on(stream: "Stream", source: "Play", job: "Play") -> None:
    """Let a job go on from another one that ended."""
    come, first = source.come, source.first or source
    assert come is not None
    assert first.come is not None
    first.come.links += 1
    own = (Adopted(job_id=source.job_id, chunks=come.chunks, next_item=come.resume_item),) if come.chunks else ()
    job.destinations, job.cost, job.first = (), 0, first
    job.come = Come(
        chain_id=come.chain_id,
        link=first.come.links,
        adopts=(*come.adopts, *own),
        plan_ref=come.plan_ref,
        next_item=come.resume_item,
        rows=come.rows,
        errors=come.errors_before,
        result_bytes=come.result_bytes,
        resume_item=come.resume_item,
        errors_before=come.errors_before,
        digest=come.digest,
        newest_ref=come.newest_ref,
    )
    submit = JobSubmitted(
        vocabulary=Vocabulary.MODULE,
        workflow_id="scrap",
        max_run_seconds=86_400,
        item_credits=int(job.org_id == stream.orgs[0]),
        private=b'\0{"input":{"queries":["on"],"zones":["here"]}}',
    )
    stream.of(job, submit)
    stream.of(
        job,
        JobContinued(
            source_job_id=source.job_id,
            chain_id=come.chain_id,
            link=job.come.link,
            adopts=job.come.adopts,
            plan_ref=come.plan_ref,
            planned=PLANNED if come.plan_ref else 0,
            next_item=come.resume_item,
            rows=come.rows,
            errors=come.errors_before,
            result_bytes=come.result_bytes,
            digest=come.digest,
            newest_ref=come.newest_ref,
            newest_stats_bytes=STATS_BYTES if come.newest_ref else 0,
        ),
    )
