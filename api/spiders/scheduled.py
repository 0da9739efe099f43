"""What a schedule of a project submits: its run, of the version that is the latest when it fires, or a pinned one."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from api import submission
from api.config import project_destinations
from api.config.schedules import Schedule
from api.config.store import Pool
from api.errors import Problem, not_found
from api.sealing import sealing_of_org
from api.spiders.job_requests import SubmitSpiders
from api.spiders.keeping import schedule_owner
from api.spiders.submission import new_job, run_options, submission_of
from api.spiders.there import deploy_of
from services.ledger.commands import SubmitJobs
from services.runtime.errors import Unsealable
from services.runtime.shredding.store import JobKeys


def run_of(asked: SubmitSpiders) -> dict[str, Any]:
    """Return what is kept of a run that is asked for, in the words of whoever asked; of env the names alone."""
    kept = {name: getattr(asked, name) for name in SubmitSpiders.__struct_fields__ if name != "org"}
    kept["env"] = dict.fromkeys(asked.env, "")
    return {name: value for name, value in kept.items() if value is not None}


def pinned(asked: SubmitSpiders) -> int | None:
    """Return the version that a run is to have; None: the latest."""
    return asked.deploy_version if isinstance(asked.deploy_version, int) else None


def _asked(keys: JobKeys, schedule: Schedule) -> SubmitSpiders:
    asked = msgspec.convert(schedule.work, SubmitSpiders)
    if schedule.sealed is None:
        return asked
    try:
        secret = keys.secret(schedule_owner(schedule.org_id, schedule.schedule_id), schedule.sealed)
    except Unsealable as fault:
        raise Problem("credentials_disabled", f"the env of the schedule cannot be read: {fault}") from None
    return replace(asked, env=secret["env"])


async def submitted(
    pool: Pool, keys: JobKeys, schedule: Schedule, asks: Mapping[str, Any], *, job_id: str, digest: bytes
) -> SubmitJobs:
    """Return the submission of a fire, or raise the Problem that a caller would be answered with."""
    asked = _asked(keys, schedule)
    if schedule.project is None:
        raise not_found("project")
    deploy = await deploy_of(pool, schedule.org_id, schedule.project, pinned(asked))
    options = run_options(asked, deploy)
    sealed = await (await sealing_of_org(keys, schedule.org_id)).sealed([new_job(job_id, options)])
    return submission_of(
        dict(asks),
        sealed[job_id],
        options,
        deploy,
        await project_destinations.enabled(pool, schedule.org_id, schedule.project),
        schedule_id=schedule.schedule_id,
        idempotency_digest=digest,
        request_digest=submission.trigger_digest(schedule.schedule_id) if digest else b"",
    )
