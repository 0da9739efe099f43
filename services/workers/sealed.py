"""Attempts at sealed jobs: their tasks are unsealed, and what is reported of them is sealed, under the key of the job.

The key is looked up once, when the attempt begins. A job without one was deleted meanwhile: nothing of it is run.
"""

import contextlib
import logging
from collections.abc import AsyncGenerator

from msgspec.structs import replace

from services.ledger.replies import Granted
from services.ledger.reports import Failed, Logged, RetryLater, Stats
from services.ledger.tasks import Task
from services.runtime.errors import KeysAway, Unsealable
from services.runtime.shredding.codec import JobKey, KeysOfJobs, is_sealed, sealed, unsealed
from services.workers.attempt import AWAY_DELAY_MS, Report
from services.workers.executor import Attempt

log = logging.getLogger(__name__)


def with_keys(keys: KeysOfJobs, attempt: Attempt) -> Attempt:
    """Return an attempt that takes sealed tasks too."""

    async def run(task: Task, granted: Granted) -> AsyncGenerator[Report]:
        try:
            key = await _key_of(task, keys)
            opened = replace(task, private=unsealed(task.private, key, _of(task))) if key else task
        except KeysAway as error:
            log.warning("no key to be had, job is tried again", extra={"job_id": task.job_id, "error": str(error)})
            yield Report(outcome=_when_back(granted))
            return
        except Unsealable as error:
            log.warning("job not run", extra={"job_id": task.job_id, "error": str(error)})
            yield Report(outcome=Failed(error_type="erased"))
            return
        async with contextlib.aclosing(attempt(opened, granted)) as reports:
            async for report in reports:
                yield _sealed(report, key, _of(task)) if key else report

    return run


async def _key_of(task: Task, keys: KeysOfJobs) -> bytes | None:
    """Return the key of a job; None where its task is in clear. Unsealable: it is sealed and has none."""
    if not is_sealed(task.private):
        return None
    key = (await keys.of([_of(task)])).get(_of(task))
    if key is None:
        raise Unsealable("the job has no key any more: it was deleted")
    return key


def _of(task: Task) -> JobKey:
    return task.org_id, task.job_id


def _when_back(granted: Granted) -> RetryLater:
    """Try again at the same place, without counting it as a try: the outage is ours."""
    resume = granted.resume
    return RetryLater(
        node_id=resume.node_id, try_number=resume.try_number, delay_ms=AWAY_DELAY_MS, error_type="keys_unavailable"
    )


def _sealed(report: Report, key: bytes, job: JobKey) -> Report:
    nodes = tuple(replace(node, private=sealed(node.private, key, job)) for node in report.nodes)
    outcome = report.outcome
    if isinstance(outcome, Failed):
        outcome = replace(outcome, private=sealed(outcome.private, key, job))
    items = tuple(
        replace(part, private=sealed(part.private, key, job)) if isinstance(part, Logged | Stats) else part
        for part in report.items
    )
    return Report(nodes, outcome, items, asks=report.asks)
