"""What a schedule submits: checked when it is saved, made into a submission when it fires.

Workflow, routes and destinations are looked up at the time of the fire, as those of any submission are.
"""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import msgspec
from msgspec.structs import replace

from api import requests, submission
from api.config import destinations
from api.config.schedules import Schedule
from api.config.store import Pool
from api.errors import Problem
from api.routing import workflows_for
from api.sealing import sealing_of_org
from api.spiders import scheduled
from services.ledger.commands import NewJob, SubmitJobs
from services.runtime.ids import derived_uuid7, uuid7
from services.runtime.networks import Networks
from services.runtime.shredding.store import JobKeys


async def check(pool: Pool, org_id: str, work: requests.SubmitJobs, *, allowed: Networks) -> None:
    """Raise a Problem naming the field that no fire could do anything with; a route may come later."""
    with within("work"):
        jobs = submission.new_jobs(work, allowed=allowed)
        if len(list(submission.parts(jobs, b""))) > 1:
            message = (
                f"a fire submits at most {submission.JOBS_PER_COMMAND} jobs, of {submission.BYTES_PER_COMMAND} bytes "
                "together: make several schedules"
            )
            raise Problem("too_large", message, field="urls")
        if work.workflow_id is not None:
            await workflows_for(pool, org_id, work.workflow_id, submission.hosts_of(work, jobs))


async def submitted(
    pool: Pool,
    keys: JobKeys,
    schedule: Schedule,
    asks: Mapping[str, Any],
    *,
    allowed: Networks,
    due_at: int | None = None,
    digest: bytes = b"",
) -> SubmitJobs:
    """Return the submission of a fire, or raise the Problem that a caller would be answered with.

    The jobs of a due time (microseconds UTC) have the same ids whoever makes them: there is one key for each of them.
    """
    if schedule.project is not None:
        job_id = uuid7() if due_at is None else _id_of(schedule, due_at, 0)
        return await scheduled.submitted(pool, keys, schedule, asks, job_id=job_id, digest=digest)
    work = msgspec.convert(schedule.work, requests.SubmitJobs)
    with within("work"):
        jobs = submission.new_jobs(work, allowed=allowed)
        chosen, places = await asyncio.gather(
            workflows_for(pool, schedule.org_id, work.workflow_id, submission.hosts_of(work, jobs)),
            destinations.enabled(pool, schedule.org_id),
        )
        jobs = list(_all_of(submission.pinned(jobs, chosen)))
    if due_at is not None:
        jobs = [replace(job, job_id=_id_of(schedule, due_at, number)) for number, job in enumerate(jobs)]
    sealed = await (await sealing_of_org(keys, schedule.org_id)).sealed(jobs)
    return SubmitJobs(
        **asks,
        jobs=tuple(sealed.values()),
        workflow_id=chosen[0].workflow_id,
        workflow_version=chosen[0].version,
        workflow_ref=chosen[0].ref,
        destinations=places,
        priority=work.priority,
        max_queue_seconds=work.max_queue_seconds,
        idempotency_digest=digest,
        request_digest=submission.trigger_digest(schedule.schedule_id) if digest else b"",
        schedule_id=schedule.schedule_id,
    )


def _id_of(schedule: Schedule, due_at: int, number: int) -> str:
    return derived_uuid7(due_at, f"{schedule.org_id}\0{schedule.schedule_id}\0{due_at}\0{number}".encode())


def _all_of(jobs: list[NewJob]) -> tuple[NewJob, ...]:
    """Return the jobs of one command; they were few enough when the schedule was saved."""
    parts = list(submission.parts(jobs, b""))
    if len(parts) > 1:
        raise Problem("too_large", "more jobs than one fire submits: make several schedules", field="urls")
    return parts[0].jobs


@contextmanager
def within(path: str) -> Iterator[None]:
    """Put the path of an object before the field that a Problem names within it."""
    try:
        yield
    except Problem as problem:
        raise problem.within(path) from None
