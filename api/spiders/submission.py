"""From run options and a deploy to the command that submits a spider job. Pure."""

from collections.abc import Sequence
from typing import Any

from api.config.deploys import Deploy
from api.errors import Problem
from api.modules.problems import refuse_params
from api.spiders.job_requests import SubmitSpiders, named_as_asked, options_of
from schemas.private import private_bytes
from schemas.values import Destination, Vocabulary
from services.ledger.commands import NewJob, SubmitJobs
from services.workers.spiders.options import RunOptions, faults

MAX_OPTIONS_BYTES = 256 * 1024  # they are in the event that submits the job, and in each of its tasks
NAMED = 20  # spiders of a deploy that an error tells of


def run_options(body: SubmitSpiders, deploy: Deploy) -> RunOptions:
    """Return the run options that a request has of a deploy, or raise the Problem that names every field at fault."""
    options, wrong = options_of(body, deploy.version)
    if options is not None:
        wrong = [named_as_asked(each) for each in faults(options)]
        unknown = [name for name in options.spiders if name not in deploy.spiders]
        if unknown:
            there = ", ".join(deploy.spiders[:NAMED]) or "none"
            wrong.append(f"spiders: version {deploy.version} has no {', '.join(unknown[:NAMED])}; there are {there}")
    refuse_params(wrong)
    assert options is not None
    return options


def new_job(job_id: str, options: RunOptions) -> NewJob:
    """Return the job of run options, or raise the Problem that they are too large."""
    private = private_bytes({"input": options})
    if len(private) > MAX_OPTIONS_BYTES:
        raise Problem(
            "too_large", f"the run options of a job take at most {MAX_OPTIONS_BYTES} bytes: send smaller ones"
        )
    return NewJob(job_id=job_id, private=private)


def submission_of(
    asks: dict[str, Any],
    job: NewJob,
    options: RunOptions,
    deploy: Deploy,
    destinations: Sequence[Destination],
    **more: Any,
) -> SubmitJobs:
    """Return the command: the job has its deploy, its options and its destinations for life."""
    return SubmitJobs(
        **asks,
        jobs=(job,),
        vocabulary=Vocabulary.SPIDER,
        workflow_id=options.project,
        workflow_version=deploy.version,
        workflow_ref=deploy.archive_ref,
        destinations=tuple(destinations),
        priority=options.priority,
        max_run_seconds=options.timeout_seconds,
        **more,
    )
